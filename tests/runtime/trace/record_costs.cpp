// SPDX-License-Identifier: BSD-3-Clause
#include <rill/runtime/trace/record_costs.hpp>

#include <string>
#include <vector>

#include <rill/ops/array/placeholder.hpp>
#include <rill/ops/math/add.hpp>

#include "catch.hpp"

using namespace rill;

TEST_CASE("record costs: members of a group share its time, waits and what is not in the graph are left out") {
    using kind = step_trace::kind;
    const graph g;
    const graph_scope here(g);
    const placeholder<float> x("x");
    const tensor<float> a(x + 1.f, "a"), b(a + 2.f, "b"), c(b + 3.f, "c"), d(c + 4.f, "d");
    placement where({{"cpu", 2}}, cpu_device(), false);
    for (const auto& t : {a, b, c}) where.device_of(*t.node());
    step_trace step;
    const auto add = [&](const std::string& node, std::int64_t begin, std::int64_t end, kind what) {
        step_trace::entry e{.node = node, .op = "Add", .begin = begin, .end = end, .what = what};
        step.entries.push_back(e);
    };
    add("a", 1000, 5000, kind::ran);
    add("b", 1000, 5000, kind::ran);
    add("c", 5000, 9000, kind::waited);
    add("c", 9000, 12000, kind::ran);
    add("Copy", 12000, 13000, kind::ran);
    add("d", 13000, 14000, kind::ran); // not placed: of another session
    cost_record costs;
    detail::record_costs(costs, step, g.state(), where);
    CHECK(costs.of("a")->microseconds == 2);
    CHECK(costs.of("b")->microseconds == 2);
    CHECK(costs.of("c")->microseconds == 3);
    CHECK(!costs.of("Copy"));
    CHECK(!costs.of("d"));
}

TEST_CASE("record costs: a device with a memory of its own runs kernels later than a trace shows") {
    static const memory_space away{"away"};
    static const device_type type{"record_costs", {&away}};
    register_device(type);
    const graph g;
    const graph_scope here(g);
    const variable<float> v = [] {
        const device_scope on("/record_costs:0");
        return variable<float>("v", 1.f);
    }();
    placement where({}, cpu_device(), false);
    REQUIRE(where.device_of(*v.node()).space == &away);
    step_trace step;
    step.entries.push_back({.node = "v", .op = "Variable", .begin = 0, .end = 1000});
    cost_record costs;
    detail::record_costs(costs, step, g.state(), where);
    CHECK(costs.empty());
}
