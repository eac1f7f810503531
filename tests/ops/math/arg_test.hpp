// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// What argmax and argmin have to do. An op describes itself by a struct: name; along<Axis>(x) and axis(x, number);
// better(a, b); sign, 1 where more is better and -1
// where less is; second_column and first_row, where the best of some numbers of a matrix lies.

#include "ops/harness.hpp"

namespace arg_test {

using namespace rill;

template <class Op>
constexpr auto reference = [](const auto& x) { // along the middle of three axes
    xt::xarray<int> out(std::vector<std::size_t>{x.shape(0), x.shape(2)});
    for (std::size_t o = 0; o < x.shape(0); ++o)
        for (std::size_t i = 0; i < x.shape(2); ++i) {
            std::size_t best = 0;
            for (std::size_t e = 1; e < x.shape(1); ++e)
                if (Op::better(x(o, e, i), x(o, best, i))) best = e;
            out(o, i) = static_cast<int>(best);
        }
    return out;
};

template <class Op> constexpr auto f = [](const auto& x) { return Op::template along<1>(x); };

template <class Op> void values() {
    for (const index_t extent : {1, 3, 10, 40, 1000})
        for (const index_t inner : {1, 7}) {
            const op_test::node_options o{.in = {{-5, 5}}, .order = 0};
            op_test::node<float, 3>(f<Op>, reference<Op>, {{3, extent, inner}}, o);
            op_test::node<double, 3>(f<Op>, reference<Op>, {{3, extent, inner}}, o);
            op_test::node<int, 3>(f<Op>, reference<Op>, {{3, extent, inner}}, o); // many equal ones
        }
    op_test::node<std::uint8_t, 3>(f<Op>, reference<Op>, {{3, 90, 1}}, {.in = {{0, 255}}});
    op_test::node<float, 3>(f<Op>, reference<Op>, {{0, 3, 4}}, {.order = 0});
}

template <class Op> void ties() {
    const graph g;
    const graph_scope here(g);
    const session s(g);
    placeholder<float, dyn> x("x");
    const auto at = Op::template along<0>(x);
    const float nan = std::numeric_limits<float>::quiet_NaN(), inf = std::numeric_limits<float>::infinity();
    for (const std::size_t n : {6u, 200u}) { // by comparisons, and by a fold and a search
        std::vector<float> v(n, 1.f);
        const auto place = [&] { return static_cast<std::size_t>(s.run(at, feed(x, v))); };
        CHECK(place() == 0);
        v[n / 2] = v[n - 1] = 1.f + Op::sign;
        CHECK(place() == n / 2);
        v[n - 2] = Op::sign * inf;
        CHECK(place() == n - 2);
        v[n - 1] = v[3] = nan;
        CHECK(place() == 3);
        std::fill(v.begin(), v.end(), -Op::sign * inf);
        CHECK(place() == 0);
        v[0] = -0.f, v[1] = 0.f;
        CHECK(place() == 0);
    }
}

template <class Op> void at_run_time() {
    const graph g;
    const graph_scope here(g);
    const session s(g);
    placeholder<float, dyn, dyn> x("x");
    const xt::xtensor<float, 2> at{{1, 5, 2}, {9, 0, 3}};
    CHECK(s.run(Op::axis(x, -2), feed(x, at)).template elements<int>()[1] == Op::second_column);
    CHECK(s.run(Op::template axis<std::int64_t>(x, 1), feed(x, at)).template elements<std::int64_t>()[0] ==
          Op::first_row);
    CHECK_THROWS_WITH(Op::axis(x, 2), contains(Op::name + std::string(": an axis is out of range: 2")));
    CHECK_THROWS_AS(s.run(Op::template along<1>(x), feed(x, xt::xtensor<float, 2>({2, 0}))), invalid_argument);
    CHECK_THROWS_WITH(s.run(Op::template along<1>(x), feed(x, xt::xtensor<float, 2>({2, 0}))),
                      contains(Op::name + std::string(": nothing to choose from")) && contains("[2, 0]"));
    CHECK(s.run(Op::template along<0>(x), feed(x, xt::xtensor<float, 2>({2, 0}))).size() == 0);
    // an index is not a number that gradients start from, and what follows it gets none
    CHECK_THROWS_AS(gradients({Op::axis(x, 1)}, {x}), invalid_argument);
}

} // namespace arg_test
