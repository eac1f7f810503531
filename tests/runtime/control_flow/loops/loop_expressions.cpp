// SPDX-License-Identifier: BSD-3-Clause
#include <rill/runtime/control_flow/loops/loop_expressions.hpp>

#include <rill/ops/catalogue.hpp>
#include <rill/session/session.hpp>

#include "catch.hpp"
#include "runtime/loop_node.hpp"

using namespace rill;

namespace test_runtime_loop_expressions {

TEST_CASE("loop_expressions: where an expression's operands are, and the function of all") {
    const graph_scope here{graph()};
    placeholder<float> x("x");
    const auto [steps, last] = while_loop([](auto i, auto) { return i < 3; },
                                          [&](auto i, auto v) { return std::tuple(i + 1, v * x + 2.f); }, 0, 1.f);
    const loop_node loop(last);
    const auto &condition = (*loop.item.origin->bodies)[0], &step = (*loop.item.origin->bodies)[1];
    detail::vector<detail::scalar_expression_at> all;
    for (const auto& [b, e] : {std::pair(&condition, condition.results[0]), std::pair(&step, step.results[0]),
                               std::pair(&step, step.results[1])}) {
        auto found = detail::scalar_expression_of(*b, e);
        REQUIRE(found);
        all.push_back(std::move(*found));
    }
    CHECK(all[0].leaves.at(0).state == 0);
    CHECK(all[0].scalars[0].as<int>() == 3);
    REQUIRE(all[2].leaves.size() == 2);
    CHECK(all[2].leaves[0].state == 1);
    CHECK(all[2].leaves[1].input == 2); // behind the state
    const auto function = detail::find_compiled_loop(all);
    REQUIRE(function);

    int count = 0;

    float value = 1.f, by = 3.f;
    void* const operands[] = {&count, &value, &by};
    const std::int32_t numbers[] = {0, 1, 2};
    detail::loop_tables tables(all);
    tables.fill(all, {operands, numbers, nullptr, {}, nullptr});
    void* state[] = {&count, &value};
    CHECK((*function)({tables.all(), state, 2, nullptr}) == 2);
    CHECK(count == 2);
    CHECK(value == (1.f * 3.f + 2.f) * 3.f + 2.f);
}

TEST_CASE("loop_expressions: a node that is none") {
    const graph_scope here{graph()};
    const auto loop =
        while_loop([](auto v) { return reduce_sum(v) < 10.f; }, [](auto v) { return v + 1.f; }, constant({1.f, 2.f}));
    const loop_node bound(loop);
    const auto& condition = (*bound.item.origin->bodies)[0];
    CHECK_FALSE(detail::scalar_expression_of(condition, condition.results[0]));
}

} // namespace test_runtime_loop_expressions
