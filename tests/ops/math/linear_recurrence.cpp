// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/math/linear_recurrence.hpp>

#include "ops/harness.hpp"

using namespace rill;

namespace test_linear_recurrence {
any_tensor along(const auto& a, const auto& b, int axis, bool reverse) {
    return apply_node(linear_recurrence_op{axis, reverse}, std::source_location::current(), a, b);
}
} // namespace test_linear_recurrence

using namespace test_linear_recurrence;

TEST_CASE("linear_recurrence: values and gradients, both ways and along every axis") {
    const graph g;
    const graph_scope here(g);
    const session s(g);
    placeholder<double, dyn> a("a"), b("b");
    const auto three = [](double x, double y, double z) { return op_test::make_array<double>({3}, {x, y, z}); };
    const auto at = [&](bool reverse) {
        return op_test::reals(op_test::run(s, along(a, b, 0, reverse), {a, b}, {three(2, 3, 9), three(1, 5, 9)}));
    };
    CHECK(at(false) == std::vector<double>{0, 1, 8});
    CHECK(at(true) == std::vector<double>{32, 9, 0});
    placeholder<double, 2, 3> m("m"), n("n");
    const auto factors = op_test::point_array<double>({-1, 1}, {2, 3});
    const auto terms = op_test::point_array<double>({-2, 2}, {2, 3});
    for (const int axis : {0, -1})
        for (const bool reverse : {false, true})
            op_test::gradient_check{s, {m, n}, {factors, terms}}.check(along(m, n, axis, reverse), 2);
}

TEST_CASE("linear_recurrence: refusals, and made by name") {
    const graph g;
    const graph_scope here(g);
    const tensor x = constant({1., 2.});
    const tensor y = constant({1., 2., 3.});
    CHECK_THROWS_WITH(along(x, y, 0, false), contains("the shapes of factors and terms differ"));
    CHECK_THROWS_WITH(along(x, x, 1, false), contains("the axis is out of range: 1"));
    const op_ptr made = make_op(linear_recurrence_op{1, true});
    CHECK(make_op("LinearRecurrence", 1, bytes_of_fields(*made))->equals(*made));
    CHECK_FALSE(make_op("LinearRecurrence")->equals(*made));
}
