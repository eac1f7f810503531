// SPDX-License-Identifier: BSD-3-Clause
#include <rill/graph/serialization/saved_graph.hpp>

#include <rill/all_kernels.hpp>
#include <rill/graph/serialization/add_graph.hpp>
#include <rill/session/session.hpp>

#include "catch.hpp"
#include "graph/sample_graph.hpp"

using namespace rill;

namespace test_saved_graph {

using sample_graph::sample, detail::saved_graph, detail::load_graph, detail::save_graph;

inline saved_graph saved() { return save_graph(sample()); }

template <class F> saved_graph changed(F change) {
    auto s = saved();
    change(s);
    return s;
}
inline detail::saved_node& named(saved_graph& s, const std::string& name) {
    for (auto& n : s.nodes)
        if (n.name == name) return n;
    throw not_found(name);
}

} // namespace test_saved_graph

TEST_CASE("saved_graph: everything of a graph, and back") {
    using namespace test_saved_graph;
    const graph g = sample();
    g.set_seed(9);
    const auto s = save_graph(g);
    const graph h = load_graph(s);
    REQUIRE(h.size() == g.size());
    CHECK_FALSE(h == g);
    CHECK(h.seed() == 9);
    const auto a = g.nodes(), b = h.nodes();
    for (std::size_t i = 0; i < a.size(); ++i) {
        INFO(a[i]->name);
        CHECK(b[i]->name == a[i]->name);
        CHECK(b[i]->op->equals(*a[i]->op));
        REQUIRE(b[i]->inputs.size() == a[i]->inputs.size());
        for (std::size_t k = 0; k < a[i]->inputs.size(); ++k) {
            CHECK(b[i]->inputs[k].from->id == a[i]->inputs[k].from->id);
            CHECK(b[i]->inputs[k].port == a[i]->inputs[k].port);
        }
        CHECK(b[i]->control_inputs.size() == a[i]->control_inputs.size());
        CHECK(b[i]->device == a[i]->device);
        CHECK(b[i]->outputs == a[i]->outputs);
    }
    CHECK(h.collection("mine").size() == 1);
    const auto* w = h.state().find("layer/w");
    REQUIRE(w);
    CHECK(h.collection(collections::trainable_variables).at(0).from == w);
    CHECK(h.state().initializer(w)->name == "layer/w/initialize");
    // names go on as they would have in the first one
    const graph_scope here(h);
    CHECK(name_scope("layer").prefix() == "layer_1/");
    CHECK(placeholder<float>("x").node()->name == "x_1");
}

TEST_CASE("saved_graph: devices and colocation travel, and the device of what a node sat with and is left out") {
    using namespace test_saved_graph;
    const graph g;
    const graph_scope here(g);
    placeholder<float, 2> z("z");
    const auto x = [] {
        const device_scope there("/cpu:0");
        return placeholder<float, 2>("x");
    }();
    const colocate_with beside(x);
    const tensor y(tanh(z), "y");
    const graph whole = load_graph(save_graph(g));
    CHECK(whole.state().find("x")->device == "/device:cpu:0");
    CHECK(whole.state().find("y")->colocated == whole.state().find("x"));
    CHECK(whole.state().find("y")->device.empty());
    const rill::node* const wanted[] = {y.node()};
    const graph part = load_graph(save_graph(g, {.wanted = wanted}));
    CHECK(part.size() == 2);
    CHECK(part.state().find("y")->colocated == nullptr);
    CHECK(part.state().find("y")->device == "/device:cpu:0");
    CHECK(part.state().find("z")->device.empty());
    CHECK(part.state().find("x") == nullptr);
}

TEST_CASE("saved_graph: what a run ships leaves the first values of its variables behind") {
    using namespace test_saved_graph;
    const graph g;
    const graph_scope here(g);
    const variable<float, 2> w("w", {1.f, 2.f});
    const tensor y(w * 2.f, "y");
    g.state().set_value(w.node(), any_array(dtype::float32, dims{2}));
    const rill::node* const wanted[] = {y.node()};
    const auto run = save_graph(g, {.wanted = wanted, .initializers = false}), part = save_graph(g, {.wanted = wanted});
    CHECK(run.nodes.size() == 2);
    CHECK(run.initializers.empty());
    CHECK(run.values.empty());
    CHECK(part.nodes.size() == 4); // the initializer and its value besides
    CHECK(part.initializers.size() == 1);
    CHECK(part.values.size() == 1);
    // a run may be the initializer's own
    const rill::node* const first[] = {w.initializer().node()};
    CHECK(save_graph(g, {.wanted = first, .initializers = false}).nodes.size() == 3);
    CHECK(load_graph(run).state().find("y"));
}

TEST_CASE("saved_graph: a part is what it needs: inputs, control inputs, first values of variables") {
    using namespace test_saved_graph;
    const graph g = sample();
    const auto part = [&](const std::string& name) {
        const rill::node* const wanted[] = {g.state().find(name)};
        std::string names;
        const graph loaded = load_graph(save_graph(g, {.wanted = wanted}));
        for (const auto* n : loaded.nodes()) names += n->name + " ";
        return names;
    };
    CHECK(part("layer/y") == "x layer/y ");
    CHECK(part("layer/w").find("layer/w/initialize") != std::string::npos);
    CHECK(part("layer/w").find("x ") == std::string::npos);
    CHECK(part("layer/group").find("layer/y ") != std::string::npos);
    const graph other;
    const rill::node* const wanted[] = {g.state().find("x")};
    CHECK_THROWS_WITH(save_graph(other, {.wanted = wanted}), contains("'x' belongs to another graph"));
    const rill::node* const y[] = {g.state().find("layer/y")};
    const auto s = save_graph(g, {.wanted = y});
    CHECK(s.initializers.empty());
    CHECK(s.collections.size() == 1);
}

TEST_CASE("saved_graph: what is no graph is refused, with the node") {
    using namespace test_saved_graph;
    const auto refused = [](auto change, const std::string& text) {
        INFO(text);
        const auto s = changed(change);
        CHECK_THROWS_AS(load_graph(s), invalid_argument);
        CHECK_THROWS_WITH(load_graph(s), contains(text));
    };
    CHECK_NOTHROW(load_graph(saved()));
    // names
    refused([](saved_graph& s) { s.nodes[1].name = "x"; }, "node 1 ('x'): another node has that name");
    for (const char* name : {"", "/x", "x/", "a//b", "a b", "-x", "\xff"})
        refused([&](saved_graph& s) { s.nodes[0].name = name; }, "is not a valid name");
    refused([](saved_graph& s) { s.nodes[0].name = std::string(1025, 'a'); }, "is not a valid name");
    // edges: forward, to itself, out of range
    refused([](saved_graph& s) { named(s, "layer/y").inputs[0].node = 1; },
            "node 1 ('layer/y') names node 1, which does not come before it");
    refused([](saved_graph& s) { named(s, "layer/y").inputs[0].node = 4; },
            "names node 4, which does not come before it");
    refused([](saved_graph& s) { named(s, "layer/y").inputs[0].node = ~0u; }, "names node 4294967295");
    refused([](saved_graph& s) { named(s, "layer/y").inputs[0].port = 1; },
            "names output 1 of node 0 ('x'), which has 1");
    refused([](saved_graph& s) { named(s, "layer/group").control_inputs = {~0u}; }, "does not come before it");
    refused([](saved_graph& s) { s.nodes[0].colocated = 1; }, "does not come before it");
}

TEST_CASE("saved_graph: wrong ops, fields, shapes and writes are refused") {
    using namespace test_saved_graph;
    const auto refused = [](auto change, const std::string& text) {
        INFO(text);
        const auto s = changed(change);
        CHECK_THROWS_AS(load_graph(s), error);
        CHECK_THROWS_WITH(load_graph(s), contains(text));
    };
    refused([](saved_graph& s) { named(s, "layer/y").inputs.clear(); }, "node 1 ('layer/y')");
    refused([](saved_graph& s) { named(s, "layer/y").fields = "nonsense"; }, "node 1 ('layer/y'): fields");
    refused([](saved_graph& s) { s.nodes[0].fields.clear(); }, "node 0 ('x')"); // a placeholder of no dtype
    refused([](saved_graph& s) { s.nodes[0].device = "cpu"; }, "device name");
    refused([](saved_graph& s) { named(s, "layer/y").outputs[0].type = dtype::float64; },
            "node 1 ('layer/y'): gave float64 [?, 2], and gives float32 [?, 2]");
    refused([](saved_graph& s) { named(s, "layer/y").outputs[0].shape = {2}; }, "gave float32 [2]");
    refused([](saved_graph& s) { named(s, "layer/y").outputs.clear(); }, "had 0 outputs, and has 1");
    refused([](saved_graph& s) { named(s, "layer/w/initialize").inputs[0].node = 0; },
            "writes 'x', which is not a variable");
    refused([](saved_graph& s) { s.initializers[0].second = 0; }, "'x' is not an initializer of 'layer/w'");
    refused([](saved_graph& s) { s.initializers[0].first = 0; }, "is not an initializer of 'x'");
    refused([](saved_graph& s) { s.initializers[0].first = 99; }, "an initializer names node 99");
    refused([](saved_graph& s) { s.collections[0].members[0].node = 99; }, "the collection");
    refused([](saved_graph& s) { s.collections[0].members[0].port = 2; }, "names output 2");
    // a variable of an unknown shape, a value of a node without one
    const graph g;
    const graph_scope here(g);
    detail::add_node(g, make_op(variable_op{{dtype::float32, {dyn}}}), {}, "v");
    CHECK_THROWS_WITH(load_graph(save_graph(g)), contains("node 0 ('v'): gives float32 [?]"));
    refused(
        [](saved_graph& s) {
            auto n = named(s, "layer/y");
            n.name = "after";
            n.inputs[0].node = static_cast<std::uint32_t>(s.nodes.size()) - 1;
            s.nodes.push_back(n);
        },
        "which has no value");
}

TEST_CASE("saved_graph: all ops and versions that this program lacks are in one error") {
    using namespace test_saved_graph;
    auto s = saved();
    s.nodes[0].op = "Unheard";
    s.nodes[2].op = "Of";
    s.nodes[3].op = "Unheard";
    named(s, "layer/group").version = 7;
    auto& fields = named(s, "layer/y").fields;
    fields.replace(fields.find("Tanh", 0), 4, "Tank");
    CHECK_THROWS_AS(load_graph(s), unimplemented);
    CHECK_THROWS_WITH(load_graph(s),
                      contains("lacks the ops 'Unheard', 'Tank', 'Of', 'NoOp' in version 7 (this program's is 1) ("));
    s = saved();
    s.nodes[0].version = 0;
    CHECK_THROWS_WITH(load_graph(s), contains("lacks the op 'Placeholder' in version 0"));
}

TEST_CASE("saved_graph: bodies that are none are refused, with the node") {
    using namespace test_saved_graph;
    const graph g;
    {
        const graph_scope here(g);
        placeholder<float> x("x");
        const auto [k, y] = while_loop([](auto i, auto) { return i < 3; },
                                       [&](auto i, auto v) { return std::tuple(i + 1, tanh(v * x)); }, 0, 1.f);
        gradients(y, x);
    }
    const auto good = save_graph(g);
    CHECK(load_graph(good).size() == g.size());
    REQUIRE(good.bodies.size() == 3); // the loop, its variant and the gradient
    REQUIRE(good.regions.size() == 3);
    const auto refused = [&](const auto& change) {
        auto s = good;
        change(s);
        CHECK_THROWS_AS(load_graph(s), invalid_argument);
    };
    refused([](auto& s) { s.regions[1].parent = 5; });
    refused([](auto& s) { s.regions[1].name = ""; });
    refused([](auto& s) { s.regions[1].nodes.push_back(99999); });
    refused([](auto& s) { s.regions[1].nodes.push_back(s.regions[0].nodes[0]); });
    refused([](auto& s) { s.regions[0].nodes.clear(); });
    refused([](auto& s) { s.bodies[0].node = 99999; });
    refused([](auto& s) { s.bodies[1].node = s.bodies[0].node; });
    refused([](auto& s) { s.bodies.clear(); });
    refused([](auto& s) { s.bodies[0].all.pop_back(); });
    refused([](auto& s) { s.bodies[0].all[1].of = 77; });
    refused([](auto& s) { s.bodies[0].all[1].of = s.bodies[0].all[0].of; });
    refused([](auto& s) { s.bodies[0].all[1].arguments.pop_back(); });
    refused([](auto& s) { s.bodies[0].all[1].arguments[0] = s.bodies[0].all[1].arguments[1]; });
    refused([](auto& s) { s.bodies[0].all[1].results.pop_back(); });
    refused([](auto& s) { s.bodies[0].all[1].results[0].node = detail::saved_body::none; });
    refused([](auto& s) { s.bodies[0].all[1].results[0].node = 99999; });
    refused([](auto& s) { s.bodies[0].all[1].captured.push_back(0); });
    refused([](auto& s) { s.bodies[0].all[1].captured[0] = 88; });
    refused([](auto& s) { s.bodies[0].all[1].effects.push_back(0); });
    refused([](auto& s) { s.bodies[1].first_variant = s.bodies[1].node + 1; });
    refused([](auto& s) { s.bodies[1].first_variant = 1; });
    refused([](auto& s) { s.bodies[1].all[1].results[0] = s.bodies[1].all[1].results[1]; });
    const auto counts = [&](int operands, int captures, int written) {
        refused([&](auto& s) {
            auto& n = s.nodes[s.bodies[0].node];
            const op_ptr read = make_op(n.op, n.version, n.fields);
            region_attributes use = *read->regions();
            use.operands = operands, use.captures = captures, use.written = written;
            n.fields = bytes_of_fields(*read->with_regions(use));
        });
    };
    constexpr int most = std::numeric_limits<int>::max();
    for (const int many : {1 << 15, 1 << 16, most}) { // what writes are counted from must not become negative
        counts(many, 1, 1);
        counts(2, many, 1);
        counts(2, 1, many);
        counts(many, many, 2);
        counts(-many, many, 2);
    }
}

TEST_CASE("saved_graph: loops of primitives, with what goes back in them") {
    using namespace rill;
    const graph g;
    placeholder<int> n;
    {
        const graph_scope here(g);
        n = placeholder<int>("n");
        const auto i = merge(enter(constant(0), "l"));
        const auto way = switch_(i.value, loop_cond(i.value < n));
        const auto out = leave(way.if_false);
        CHECK(detail::save_graph(g).loops.empty()); // still open
        close_loop({{i, next_iteration(way.if_true + 1)}});
        const std::vector<const node*> wanted{out.node()};
        CHECK(detail::save_graph(g, {.wanted = wanted}).nodes.size() == g.size()); // what comes back is needed
    }
    const auto s = detail::save_graph(g);
    REQUIRE(s.loops.size() == 1);
    const graph h = detail::load_graph(s);
    const graph both;
    detail::add_graph(h, both, "p");
    CHECK(session(h).run(fetch("exit"), feed("n:0", 7)).value<int>() == 7);
    CHECK(session(both).run(fetch("p/exit"), feed("p/n:0", 7)).value<int>() == 7);

    auto bad = s;
    bad.loops[0].back = {bad.loops[0].merge, 0};
    CHECK_THROWS_WITH(detail::load_graph(bad), contains("comes from no next_iteration"));
    bad.loops[0] = {0, s.loops[0].back};
    CHECK_THROWS_AS(detail::load_graph(bad), invalid_argument);
    bad.loops[0] = {1000, s.loops[0].back};
    CHECK_THROWS_WITH(detail::load_graph(bad), contains("names node 1000"));
    bad = s;
    bad.loops.push_back(bad.loops[0]);
    CHECK_THROWS_WITH(detail::load_graph(bad), contains("is given two back edges"));
    bad.loops.clear();
    CHECK_THROWS_WITH(session(detail::load_graph(bad)).run(fetch("exit"), feed("n:0", 7)), contains("is open"));
}
