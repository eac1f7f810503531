// SPDX-License-Identifier: BSD-3-Clause
#include <rill/graph/op/region_attributes.hpp>

#include <rill/ops/catalogue.hpp>

#include "catch.hpp"

using namespace rill;

TEST_CASE("region_attributes: the variables that bodies write are the last inputs") {
    region_attributes use{region_attributes::form::repeat};
    use.operands = 2;
    use.captures = 1;
    CHECK(use.writes().size() == 0);
    use.written = 2;
    const auto all = use.writes();
    REQUIRE(all.size() == 2);
    CHECK(all[0] == 3);
    CHECK(all[1] == 4);
    use.captures = 70'000; // more than 16 bits count
    CHECK(use.writes()[0] == 70'002);
}

TEST_CASE("region_attributes: counts of a file's are added up in 64 bits") {
    const auto holds = [](int operands, int captures, int written, std::size_t inputs) {
        region_attributes use;
        use.operands = operands;
        use.captures = captures;
        use.written = written;
        return use.counts(inputs);
    };
    constexpr int most = std::numeric_limits<int>::max();
    CHECK(holds(1, 2, 3, 6));
    CHECK(holds(40'000, 40'000, 0, 80'000));
    CHECK_FALSE(holds(1, 2, 3, 5));
    CHECK_FALSE(holds(-1, 2, 0, 1));
    CHECK_FALSE(holds(most, most, 2, 0)); // whose sum in 32 bits is 0
    CHECK_FALSE(holds(most, most, most, 1));
}

TEST_CASE("region_attributes: a node whose bodies do not fit it is refused") {
    const graph_scope here{graph()};
    const graph g = current_graph();
    const any_tensor x = placeholder<float>("x");
    const auto refused = [&](const char* why, const auto& change) {
        node_spec spec;
        region_attributes use{region_attributes::form::call};
        use.operands = 1;
        spec.name = "n";
        spec.inputs = {x.end()};
        auto& b = spec.bodies.emplace_back();
        b.of = g.state().add_region(nullptr, "r", {});
        {
            const detail::region_scope open(b.of);
            b.arguments = {{detail::add_node(g, make_op(argument_op{{dtype::float32, {}}}), {}), 0}};
            b.results = b.arguments;
        }
        op_ptr op = make_op(call_op{});
        change(spec, use, op);
        spec.op = op->regions() ? op->with_regions(use) : op;
        if (*why)
            CHECK_THROWS_WITH(g.state().add(std::move(spec)), contains(why));
        else
            CHECK(g.state().add(std::move(spec)));
    };
    refused("", [](auto&, auto&, auto&) {});
    refused("can't run any", [](auto&, auto&, auto& op) { op = make_op(no_op_op{}); });
    refused("has no bodies", [](auto& spec, auto&, auto&) { spec.bodies.clear(); });
    refused("not as many as it says", [](auto&, auto& use, auto&) { use.captures = 7; });
    refused("not as many as it says", [](auto&, auto& use, auto&) { use.operands = -1; });
    refused("not as many as it says", [](auto&, auto& use, auto&) { use.captures = 1 << 15; });
    refused("more parts than it has operands", [](auto&, auto& use, auto&) { use.carried = 2; });
    refused("another number of bodies", [](auto& spec, auto&, auto&) { spec.bodies.push_back(spec.bodies[0]); });
    refused("another number of bodies", [](auto&, auto& use, auto& op) {
        op = make_op(while_op{});
        use.how = region_attributes::form::repeat;
    });
    refused("no slices", [](auto&, auto& use, auto& op) {
        op = make_op(scan_slices_op{});
        use.how = region_attributes::form::scan;
        use.carried = 1;
    });
    refused("lies elsewhere",
            [&](auto& spec, auto&, auto&) { spec.bodies[0].of = g.state().add_region(spec.bodies[0].of, "q", {}); });
    refused("takes other arguments", [](auto& spec, auto&, auto&) { spec.bodies[0].arguments.clear(); });
    refused("argument of a body lies elsewhere",
            [&](auto& spec, auto&, auto&) { spec.bodies[0].arguments[0] = x.end(); });
    refused("no place among the inputs", [&](auto& spec, auto&, auto&) { spec.bodies[0].captures.push_back(x.end()); });
    refused("from outside is another value", [&](auto& spec, auto&, auto&) {
        spec.bodies[0].captures.push_back(x.end());
        spec.bodies[0].captured.push_back(9);
    });
    refused("leaves out a result", [](auto& spec, auto&, auto&) { spec.bodies[0].results = {endpoint()}; });
    refused("does lies elsewhere", [&](auto& spec, auto&, auto&) { spec.bodies[0].effects.push_back(x.node()); });
}
