// SPDX-License-Identifier: BSD-3-Clause
#include <rill/device/structure.hpp>

#include <rill/ops/math/add.hpp>
#include <rill/ops/math/cast.hpp>
#include <rill/ops/math/greater.hpp>
#include <rill/ops/math/mul.hpp>
#include <rill/ops/math/sub.hpp>
#include <rill/ops/math/tanh.hpp>

#include "catch.hpp"

using namespace rill;

TEST_CASE("structure: operands and derivatives are counted") {
    using product = structure<mul_op, float, leaf<float>, scalar_leaf<float>>;
    using sum = structure<add_op, float, product, structure<tanh_op, float, leaf<float>>>;
    static_assert(sum::leaves == 2 && sum::scalars == 1);
    static_assert(detail::differentiable_structure<sum>);
    static_assert(!detail::differentiable_structure<structure<greater_op, bool, leaf<float>, leaf<float>>>);
    static_assert(detail::leaves_before<product, leaf<float>>(1) == 1);
}

TEST_CASE("structure: evaluated on single values, forward and backward") {
    using product = structure<mul_op, double, leaf<double>, leaf<double>>;
    using s = structure<tanh_op, double, product>;
    const std::tuple leaves(lane<double>(0.5), lane<double>(3.0));
    const auto forward = detail::evaluator<s, 0, 0>::forward(leaves, std::tuple<>());
    CHECK(forward.value.v == Approx(std::tanh(1.5)));
    auto slots = leaves;
    detail::pullback_of<s, 0>::run(forward, lane<double>(1), slots);
    const double slope = 1 - std::tanh(1.5) * std::tanh(1.5);
    CHECK(std::get<0>(slots).v == Approx(3 * slope));
    CHECK(std::get<1>(slots).v == Approx(0.5 * slope));
}

TEST_CASE("structure: what adjoints are made of, and from the result alone") {
    using sum = structure<sub_op, double, leaf<double>, leaf<double>>;
    using by_result = structure<tanh_op, double, sum>;
    using squashed_before = structure<sub_op, double, structure<tanh_op, double, leaf<double>>, leaf<double>>;
    using converted = structure<add_op, double, leaf<double>, structure<cast_op<double>, double, leaf<int>>>;
    static_assert(detail::adjoint_reads<leaf<double>, lane> == pullback_reads::gradient);
    static_assert(detail::adjoint_reads<sum, lane> == pullback_reads::gradient);
    static_assert(detail::adjoint_reads<converted, lane> == pullback_reads::gradient); // nothing flows to integers
    static_assert(detail::adjoint_reads<by_result, lane> == pullback_reads::result);
    static_assert(detail::adjoint_reads<squashed_before, lane> ==
                  pullback_reads::operands); // its result is not the whole's
    static_assert(detail::adjoint_reads<structure<mul_op, double, leaf<double>, leaf<double>>, lane> ==
                  pullback_reads::operands);
    std::tuple slots(lane<double>(0), lane<double>(0));
    detail::pullback_by_result<by_result, 0>::run(lane<double>(0.5), lane<double>(2), slots);
    CHECK(std::get<0>(slots).v == 1.5);
    CHECK(std::get<1>(slots).v == -1.5);
}
