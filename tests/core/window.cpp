// SPDX-License-Identifier: BSD-3-Clause
#include <rill/core/window.hpp>

#include <string>

#include "catch.hpp"

using namespace rill;

namespace test_core_window {

constexpr index_t out(index_t in, index_t size, const window& w) {
    return rules::place_window(in, size, w, 0, 1).axis.out;
}
constexpr index_t before(index_t in, index_t size, const window& w) {
    return rules::place_window(in, size, w, 0, 1).axis.before;
}
constexpr window same(index_t stride, index_t dilation = 1) {
    return {.strides = {stride}, .dilations = {dilation}, .padding = padding::same};
}

// the larger half of the zeros lies behind
static_assert(out(5, 3, same(1)) == 5 && before(5, 3, same(1)) == 1);
static_assert(out(5, 2, same(1)) == 5 && before(5, 2, same(1)) == 0);
static_assert(out(5, 4, same(2)) == 3 && before(5, 4, same(2)) == 1);
static_assert(out(6, 1, same(4)) == 2 && before(6, 1, same(4)) == 0);
static_assert(out(7, 3, same(1, 2)) == 7 && before(7, 3, same(1, 2)) == 2);
static_assert(out(7, 3, {.strides = {2}}) == 3 && out(7, 3, {.dilations = {3}}) == 1);
static_assert(out(3, 2, {.pads = {{1, 2}}}) == 5 && before(3, 2, {.pads = {{1, 2}}}) == 1);
static_assert(out(dyn, 2, same(2)) == dyn && out(4, dyn, {}) == dyn);
static_assert(out(0, 3, same(1)) == 0);

TEST_CASE("window: shapes of convolutions, pools and transposed convolutions") {
    const dims x{dyn, 28, 28, 3}, f{5, 5, 3, 8};
    CHECK(rules::convolution(x, f, {}).shape == dims{dyn, 24, 24, 8});
    CHECK(rules::convolution(x, f, {}, true).shape == dims{dyn, 24, 24, 24});
    CHECK(rules::convolution(dims::unknown(), f, {}).shape == dims{dyn, dyn, dyn, 8});
    CHECK(rules::convolution(x, dims::unknown(), {}).shape == dims{dyn, dyn, dyn, dyn});
    CHECK(rules::pool(x, {.size = {3, 2}}).shape == dims{dyn, 9, 14, 3});
    CHECK(rules::convolution_transpose({dyn, 7, 7, 8}, {5, 5, 3, 8}, {.strides = {2}}).shape == dims{dyn, 17, 17, 3});
    CHECK(rules::convolution_transpose({dyn, 7, dyn, 8}, {5, 5, 3, 8}, same(2)).shape == dims{dyn, 14, dyn, 3});
    window_shape made;
    REQUIRE(rules::pool({2, 9, 4}, {.size = {3}}, &made).ok());
    CHECK((made.batch == 2 && made.windows() == 3 && made.pixels() == 9 && made.positions() == 3));
}

TEST_CASE("window: numbers without bounds are refused, not overflowed") {
    constexpr index_t most = std::numeric_limits<index_t>::max();
    const auto broken = [](const dims& x, const dims& f, const window& w) {
        const auto r = rules::convolution(x, f, w);
        return std::string(r.broken ? r.broken : "");
    };
    const dims x{1, 4, 4, 1}, f{2, 2, 1, 1};
    CHECK_THAT(broken(x, f, {.strides = {most}}), contains("more elements than an index counts"));
    CHECK_THAT(broken(x, f, {.dilations = {most}}), contains("more elements than an index counts"));
    CHECK_THAT(broken(x, f, {.pads = {{most, 0}, {0, 0}}}), contains("more elements than an index counts"));
    CHECK_THAT(broken({1, most, 4, 1}, f, {}), contains("more elements than an index counts"));
    CHECK_THAT(broken(x, {most, 2, 1, 1}, {}), contains("more elements than an index counts"));
    CHECK_THAT(broken(x, {0, 2, 1, 1}, {}), contains("the window is empty"));
    CHECK_THAT(broken({4, 4}, {2, 2}, {}), contains("1 to 3 axes"));
    window odd;
    odd.strides.count = 4;
    CHECK_THAT(broken(x, f, odd), contains("another number of axes"));
}

} // namespace test_core_window
