// SPDX-License-Identifier: BSD-3-Clause
#include <rill/runtime/plan/part_graph.hpp>

#include <algorithm>
#include <string>

#include <rill/graph/serialization/saved_graph.hpp>
#include <rill/ops/catalogue.hpp>
#include <rill/runtime/dynamic_runtime.hpp>
#include <rill/runtime/plan/compile_graph.hpp>

#include "catch.hpp"

using namespace rill;

namespace test_part_graph {

TEST_CASE("part graph: names, seed, devices and bodies are kept, and it can be saved and loaded") {
    const graph g;
    const graph_scope here(g);
    g.set_seed(17);
    detail::register_exchange_ops();
    const placeholder<float, 3> x("x");
    const auto on = [](const std::string& device, const auto& make) {
        const device_scope there(device);
        return make();
    };
    const auto v = on("/cpu:1", [] { return variable<float, 3>("v", {1.f, 2.f, 3.f}); });
    const tensor a(x * 2.f, "_x/send_0"); // a name that added nodes would have
    const auto z = on("/cpu:1", [&] {
        return tensor<float, 3>(
            cond(reduce_sum(a) > 1.f, [&] { return tensor(a * v + 3.f, "inside"); }, [&] { return tensor(a * 1.f); }));
    });
    const auto written = on("/cpu:1", [&] { return tensor(v.assign(a), "written"); });
    const tensor before(v * 1.f, "before"), after(z + v, "after");
    const session_options options{.device_count = {{"cpu", 2}}};
    const auto where = detail::make_placement(options);
    const detail::plan_key key{{z, written, before, after, v}, {}, {x}};
    const auto cut = detail::compile_partition(key, detail::registered_dynamic_runtime.load(), options, *where);
    REQUIRE(cut.parts.size() == 2);
    for (const auto& p : cut.parts) {
        const auto made = detail::make_part_graph(p, g);
        CHECK(made.of.seed() == 17);
        CHECK(made.fetches.size() == p.fetches.size());
        CHECK(!made.targets.empty());
        for (const auto* n : made.of.nodes()) {
            const bool source = n->op->role() == op_role::placeholder || n->op->role() == op_role::constant;
            CHECK((source || n->inside || n->device.find("/device:cpu:") != std::string::npos));
            if (const auto* as = g.state().find(n->name)) CHECK(as->outputs[0] == n->outputs[0]);
        }
        const bool second = p.where->index == 1;
        const auto nodes = made.of.nodes();
        CHECK(std::any_of(nodes.begin(), nodes.end(), [](const node* n) { return n->inside; }) == second);
        CHECK((made.of.state().find("v") != nullptr) == second);
        CHECK((made.of.state().find("_x/copy_1") != nullptr) == second); // of v, fetched after it is written
        const auto again = detail::load_graph(detail::save_graph(made.of, {.initializers = false}));
        CHECK(again.size() == made.of.size());
    }
}

} // namespace test_part_graph
