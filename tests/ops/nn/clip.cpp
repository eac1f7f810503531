// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/nn/clip.hpp>

#include "ops/harness.hpp"

using namespace rill;

namespace test_clip {
constexpr auto f = [](const auto& x) { return clip(x, -1, 2); };
constexpr auto bounds = [](const auto& x, const auto& low, const auto& high) { return clip(x, low, high); };
} // namespace test_clip

TEST_CASE("clip: values") {
    op_test::unary<float, double, int, std::int8_t>("clip", test_clip::f, [](auto x) {
        using T = decltype(x);
        return x < T(-1) ? T(-1) : x > T(2) ? T(2) : x;
    });
    op_test::elementwise<float, float, float>("clip", test_clip::bounds, [](auto x, auto low, auto high) {
        const auto m = x >= low || x != x ? x : low;
        return m <= high || m != m ? m : high;
    });
}

TEST_CASE("clip: gradient") {
    op_test::gradients(test_clip::f, {{-0.9, 1.9}}, 2);
    op_test::gradients(test_clip::f, {{3, 4}}, 2);
    op_test::gradients(test_clip::bounds, {{-0.9, 1.9}, {-2, -1}, {2, 3}}, 2); // within
    op_test::gradients(test_clip::bounds, {{-4, -3}, {-2, -1}, {2, 3}}, 1);    // below
    op_test::gradients(test_clip::bounds, {{4, 5}, {-2, -1}, {2, 3}}, 1);      // above
    op_test::gradients(test_clip::bounds, {{-4, 5}, {2, 3}, {-2, -1}}, 1);     // bounds that cross
}

TEST_CASE("clip: on a bound the gradient passes") {
    const graph g;
    const graph_scope here(g);
    const session s(g);
    placeholder<float, 3> x("x");
    static_assert(std::is_same_v<value_type_of<decltype(clip(x, 0.f, 1.f))>, float>);
    const auto [d] = gradients(clip(x, 0.f, 1.f), x);
    const auto v = s.run(d, feed(x, {0.f, 1.f, 1.5f}));
    CHECK(v(0) == 1.f);
    CHECK(v(1) == 1.f);
    CHECK(v(2) == 0.f);
}
