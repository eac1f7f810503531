// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// What softmax and its logarithm have to do. An op describes itself by a struct: name, a call operator, along<Axis>(x) and along(x, axis), and
// of(v, sum), its value where a row
// holds v and its exponentials add up to sum; from_share and to_share, between shares of 1 and what the op gives for them.

#include <rill/ops/array/transpose.hpp>
#include <rill/ops/math/add.hpp>
#include <rill/ops/math/mul.hpp>

#include "ops/harness.hpp"

namespace softmax_test {

using namespace rill;

template <class Op>
constexpr auto reference = [](const auto& x) {
    using wide = long double;
    auto out = x;
    const std::size_t n = x.shape(x.dimension() - 1);
    for (std::size_t row = 0; n > 0 && row < x.size() / n; ++row) {
        const auto at = [&](std::size_t i) {
            return static_cast<wide>(x.storage()[row * n + i]) - static_cast<wide>(x.storage()[row * n]);
        };
        wide sum = 0;
        for (std::size_t i = 0; i < n; ++i) sum += std::exp(at(i));
        for (std::size_t i = 0; i < n; ++i)
            out.storage()[row * n + i] =
                static_cast<typename std::decay_t<decltype(x)>::value_type>(Op::of(at(i), sum));
    }
    return out;
};

template <class Op> void values() {
    for (const index_t columns : {1, 3, 10, 16, 31, 33, 64, 1000})
        for (const index_t rows : {1, 2, 5, 16, 37}) {
            INFO(rows << " rows of " << columns);
            op_test::node<float, 2>(Op{}, reference<Op>, {{rows, columns}}, {.ulps = 64});
            op_test::node<double, 2>(Op{}, reference<Op>, {{rows, columns}}, {.order = 0, .ulps = 64});
        }
    op_test::node<float, 1>(Op{}, reference<Op>, {{7}});
    op_test::node<double, 3>(Op{}, reference<Op>, {{2, 3, 4}}, {.order = 0});
    op_test::node<float, 2>(Op{}, reference<Op>, {{0, 4}});
    op_test::node<float, 2>(Op{}, reference<Op>, {{4, 0}});
}

template <class Op> void gradients() {
    op_test::node<double, 2>(Op{}, reference<Op>, {{3, 4}}, {.order = 3});
    op_test::node<double, 1>(Op{}, reference<Op>, {{5}}, {.order = 2});
    op_test::node<double, 3>([](const auto& x) { return Op{}(x * x); },
                             [](const auto& x) { return reference<Op>(xt::xarray<double>(x * x)); }, {{2, 2, 3}},
                             {.in = {{-1, 1}}, .order = 2});
}

template <class Op> void types_and_refusals() {
    const graph g;
    const graph_scope here(g);
    const session s(g);
    placeholder<float, dyn, 10> x("x");
    static_assert(std::is_same_v<decltype(Op{}(x + 1.f)), tensor<float, dyn, 10>>);
    static_assert(has_last_axis<extents<3>> && !has_last_axis<extents<>>);
    CHECK(Op{}(x).name() == Op::name + std::string(":0"));
    const any_tensor any = any_placeholder("any", dtype::float64),
                     scalar = any_placeholder("scalar", dtype::float32, dims{});
    const auto [whole, trace] = s.run_traced(Op{}(any), feed(any, xt::xtensor<double, 2>({3, 4}, 1.)));
    CHECK(whole.template elements<double>()[11] == Approx(Op::from_share(0.25)));
    CHECK_THROWS_WITH(Op{}(scalar), contains(Op::name + std::string(": a scalar has no last axis")));
    CHECK_THROWS_AS(s.run(Op{}(any), feed(any, 1.)), invalid_argument);
}

/// Along an axis that is not the last: as of the tensor turned, and back.
template <class Op> void other_axes() {
    const graph g;
    const graph_scope here(g);
    const session s(g);
    placeholder<double, dyn, 3, 2> x("x");
    const any_tensor any = any_placeholder("any", dtype::float64);
    const auto at = op_test::make_array<double>({2, 3, 2}, op_test::points<double>({-2, 2}, 12, 3));
    const auto turned = transpose<0, 2, 1>(Op{}(transpose<0, 2, 1>(x)));
    const auto typed = Op::template along<1>(x);
    static_assert(std::is_same_v<decltype(typed), const tensor<double, dyn, 3, 2>>);
    const auto wanted = op_test::reals(op_test::run(s, turned, {x}, {at}));
    for (const any_tensor& y : {any_tensor(typed), any_tensor(Op::template along<-2>(x)), any_tensor(Op::along(x, 1))})
        CHECK(op_test::far_apart(op_test::reals(op_test::run(s, y, {x}, {at})), wanted, 1e-14) == "");
    CHECK(op_test::far_apart(op_test::reals(op_test::run(s, Op::along(any, -2), {any}, {at})), wanted, 1e-14) == "");
    CHECK(op_test::far_apart(op_test::reals(op_test::run(s, Op::along(any, 2), {any}, {at})),
                             op_test::reals(op_test::run(s, Op{}(x), {x}, {at})), 1e-14) == "");
    op_test::gradient_check{s, {x}, {at}}.check(typed, 2);
    const auto large = op_test::make_array<double>({1, 3, 2}, {1e4, 0, 1e4, 0, 1e4, 0});
    for (const double v : op_test::reals(op_test::run(s, typed, {x}, {large})))
        CHECK(v == Approx(Op::from_share(1. / 3)));
    CHECK_THROWS_WITH(Op::along(any_placeholder("ids", dtype::int32), 0),
                      contains(Op::name + std::string(": the elements of 'ids:0' are int32, not floating")));
    CHECK_THROWS_WITH(Op::along(x, 3), contains(Op::name + std::string(": an axis is out of range: 3 (")));
}

template <class Op> void extreme_numbers() {
    const graph g;
    const graph_scope here(g);
    const session s(g);
    placeholder<float, dyn, dyn> x("x");
    const auto y = Op{}(x);
    const float inf = std::numeric_limits<float>::infinity();
    for (const std::size_t columns : {4u, 100u}) {
        xt::xtensor<float, 2> at({3, columns}, -1e30f);
        at(0, 1) = 1e30f;
        at(1, 0) = at(1, 3) = 88.f;
        for (std::size_t c = 0; c < columns; ++c) at(2, c) = c == 2 ? 0.f : -inf;
        const auto v = s.run(y, feed(x, at));
        const auto p = [&](std::size_t r, std::size_t c) { return Op::to_share(v(r, c)); };
        CHECK(p(0, 1) == 1.f);
        CHECK(p(0, 0) == 0.f);
        CHECK(p(1, 0) == Approx(0.5f));
        CHECK(p(2, 2) == 1.f);
        CHECK(p(2, 0) == 0.f);
    }
}

template <class Op> void narrow_types() {
    const graph g;
    const graph_scope here(g);
    const session s(g);
    for (const std::size_t columns : {5u, 300u}) {
        placeholder<half, dyn, dyn> x;
        placeholder<float, dyn, dyn> wide;
        xt::xtensor<half, 2> at({3, columns});
        xt::xtensor<float, 2> same({3, columns});
        for (std::size_t i = 0; i < at.size(); ++i)
            same.storage()[i] = static_cast<float>(at.storage()[i] = half(static_cast<float>(i % 7) * 0.5f));
        const auto got = s.run(Op{}(x), feed(x, at));
        const auto wanted = s.run(Op{}(wide), feed(wide, same));
        bool right = true;
        for (std::size_t i = 0; i < at.size(); ++i)
            right = right && static_cast<float>(got.storage()[i]) == static_cast<float>(half(wanted.storage()[i]));
        CHECK(right);
    }
}

} // namespace softmax_test
