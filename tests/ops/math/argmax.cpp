// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/math/argmax.hpp>

#include "ops/harness.hpp"

using namespace rill;

namespace test_ops_math_argmax {

template <class X> using along_last = decltype(argmax<-1>(std::declval<const X&>()));
static_assert(std::is_same_v<along_last<tensor<float, dyn, 10>>, tensor<int, dyn>>);
static_assert(std::is_same_v<along_last<tensor<std::int8_t, 3>>, tensor<int>>);
static_assert(std::is_same_v<along_last<any_tensor>, any_tensor>);
static_assert(std::is_same_v<decltype(argmax<0, std::int64_t>(std::declval<const tensor<float, 2, 3>&>())), tensor<std::int64_t, 3>>);

constexpr auto reference = [](const auto& x) { // along the middle of three axes
    xt::xarray<int> out(std::vector<std::size_t>{x.shape(0), x.shape(2)});
    for (std::size_t o = 0; o < x.shape(0); ++o)
        for (std::size_t i = 0; i < x.shape(2); ++i) {
            std::size_t best = 0;
            for (std::size_t e = 1; e < x.shape(1); ++e)
                if (x(o, e, i) > x(o, best, i)) best = e;
            out(o, i) = static_cast<int>(best);
        }
    return out;
};
constexpr auto f = [](const auto& x) { return argmax<1>(x); };


TEST_CASE("argmax: values") {
    for (const index_t extent : {1, 3, 10, 40, 1000})
        for (const index_t inner : {1, 7}) {
            const op_test::node_options o{.in = {{-5, 5}}, .order = 0};
            op_test::node<float, 3>(f, reference, {{3, extent, inner}}, o);
            op_test::node<double, 3>(f, reference, {{3, extent, inner}}, o);
            op_test::node<int, 3>(f, reference, {{3, extent, inner}}, o); // many equal ones
        }
    op_test::node<std::uint8_t, 3>(f, reference, {{3, 90, 1}}, {.in = {{0, 255}}});
    op_test::node<float, 3>(f, reference, {{0, 3, 4}}, {.order = 0});
}

TEST_CASE("argmax: ties, NaN, infinity") {
    const graph g;
    const graph_scope here(g);
    const session s(g);
    placeholder<float, dyn> x("x");
    const auto at = argmax<0>(x);
    const float nan = std::numeric_limits<float>::quiet_NaN(), inf = std::numeric_limits<float>::infinity();
    for (const std::size_t n : {6u, 200u}) { // by comparisons, and by a fold and a search
        std::vector<float> v(n, 1.f);
        const auto place = [&] { return static_cast<std::size_t>(s.run(at, feed(x, v))); };
        CHECK(place() == 0);
        v[n / 2] = v[n - 1] = 2.f;
        CHECK(place() == n / 2);
        v[n - 2] = inf;
        CHECK(place() == n - 2);
        v[n - 1] = v[3] = nan;
        CHECK(place() == 3);
        std::fill(v.begin(), v.end(), -inf);
        CHECK(place() == 0);
        v[0] = -0.f, v[1] = 0.f;
        CHECK(place() == 0);
    }
}

TEST_CASE("argmax: at run time") {
    const graph g;
    const graph_scope here(g);
    const session s(g);
    placeholder<float, dyn, dyn> x("x");
    const xt::xtensor<float, 2> at{{1, 5, 2}, {9, 0, 3}};
    CHECK(s.run(argmax(x, -2), feed(x, at)).elements<int>()[1] == 0);
    CHECK(s.run(argmax<std::int64_t>(x, 1), feed(x, at)).elements<std::int64_t>()[0] == 1);
    CHECK_THROWS_WITH(argmax(x, 2), contains("argmax: the axis is out of range"));
    CHECK_THROWS_AS(s.run(argmax<1>(x), feed(x, xt::xtensor<float, 2>({2, 0}))), invalid_argument);
    CHECK_THROWS_WITH(s.run(argmax<1>(x), feed(x, xt::xtensor<float, 2>({2, 0}))), contains("argmax: nothing to choose from") && contains("[2, 0]"));
    CHECK(s.run(argmax<0>(x), feed(x, xt::xtensor<float, 2>({2, 0}))).size() == 0);
    // an index is no number that gradients start from, and what follows it gets none
    CHECK_THROWS_AS(gradients({argmax(x, 1)}, {x}), invalid_argument);
}

} // namespace test_ops_math_argmax
