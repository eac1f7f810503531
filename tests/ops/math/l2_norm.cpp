// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/math/l2_norm.hpp>

#include <rill/ops/math/reduce_l2_norm.hpp>

#include "ops/harness.hpp"

using namespace rill;

TEST_CASE("l2_norm: several parts as if they were one, with gradients to second order") {
    const graph g;
    const graph_scope here(g);
    const session s(g);
    placeholder<double, dyn> a("a");
    placeholder<double, dyn, 2> b("b");
    const auto squares = sealed(reduce_sum(square(a)) + reduce_sum(square(b)));
    detail::require_kernel_for<l2_norm_op, double>();
    const any_tensor norm(
        detail::add_l2_norm({a.end(), b.end()}, {combine::sum, {}, false}, squares.end(), &l2_norm_op::make, {}));
    const auto at = [&](double scale) {
        return std::vector<any_array>{op_test::make_array<double>({1}, {2 * scale}),
                                      op_test::make_array<double>({1, 2}, {3 * scale, 6 * scale})};
    };
    const auto of = [&](double scale) { return op_test::reals(op_test::run(s, norm, {a, b}, at(scale)))[0]; };
    CHECK(of(1) == 7);
    CHECK(of(1e200) == Approx(7e200));
    CHECK(of(1e-200) == Approx(7e-200));
    CHECK(of(0) == 0);
    op_test::gradient_check{s, {a, b}, at(1)}.check(norm, 2);
}

TEST_CASE("l2_norm: refusals, and its fields read back") {
    const graph g;
    const graph_scope here(g);
    const tensor x = constant({1., 2.});
    const tensor y = constant({1., 2., 3.});
    CHECK_THROWS_WITH(detail::add_l2_norm({x.end()}, {combine::sum, {}, false}, y.end(), &l2_norm_op::make, {}),
                      contains("the sum of squares and its root must be"));
    const op_ptr made = reduce_l2_norm(x).node()->op;
    CHECK(make_op("L2Norm", 1, bytes_of_fields(*made))->equals(*made));
}
