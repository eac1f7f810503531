// SPDX-License-Identifier: BSD-3-Clause
// Pools, patches and moves of images against plain loops.
#include <rill/ops/nn/window/max_pool.hpp>

#include <rill/ops/math/mul.hpp>
#include <rill/ops/math/reduce_sum.hpp>
#include <rill/ops/nn/window/avg_pool.hpp>
#include <rill/ops/nn/window/extract_image_patches.hpp>
#include <rill/ops/nn/window/space_to_depth.hpp>

#include "ops/harness.hpp"

using namespace rill;

namespace test_ops_nn_window_max_pool {

template <class T> using array = xt::xarray<T>;

dims shape_of(const auto& a) {
    dims d;
    for (const auto e : a.shape()) d.push(static_cast<index_t>(e));
    return d;
}
template <class T> array<T> zeros_of(const dims& d) {
    return xt::zeros<T>(std::vector<std::size_t>(d.extent.begin(), d.extent.begin() + d.rank));
}

/// Calls f(element of the window, or null outside the image) for each position of each window and channel, between begin and end of a window.
template <class T, class Begin, class F, class End>
void windows(const window_shape& w, index_t channels, const array<T>& x, const Begin& begin, const F& f,
             const End& end) {
    const auto& [d, h, v] = w.axis;
    index_t to = 0;
    for (index_t n = 0; n < w.batch; ++n)
        for (index_t oz = 0; oz < d.out; ++oz)
            for (index_t oy = 0; oy < h.out; ++oy)
                for (index_t ox = 0; ox < v.out; ++ox)
                    for (index_t c = 0; c < channels; ++c, ++to) {
                        begin();
                        for (index_t kz = 0; kz < d.size; ++kz)
                            for (index_t ky = 0; ky < h.size; ++ky)
                                for (index_t kx = 0; kx < v.size; ++kx) {
                                    const index_t z = oz * d.stride + kz - d.before, y = oy * h.stride + ky - h.before,
                                                  i = ox * v.stride + kx * v.dilation - v.before;
                                    const bool inside = z >= 0 && z < d.in && y >= 0 && y < h.in && i >= 0 && i < v.in;
                                    const auto at = (((n * d.in + z) * h.in + y) * v.in + i) * channels + c;
                                    f(inside ? &x.flat(static_cast<std::size_t>(at)) : nullptr);
                                }
                        end(static_cast<std::size_t>(to));
                    }
}

template <class T> auto pooled(const window& w, bool largest) {
    return [=](const array<T>& x) {
        window_shape s;
        array<T> out = zeros_of<T>(rules::pool(shape_of(x), w, &s).shape);
        T best{}, sum{};
        int count = 0;
        windows(
            s, static_cast<index_t>(x.shape().back()), x, [&] { best = sum = T(0), count = 0; },
            [&](const T* v) {
                if (!v) return;
                best = count == 0 ? *v : std::max(best, *v);
                sum += *v;
                ++count;
            },
            [&](std::size_t to) { out.flat(to) = largest ? best : sum / static_cast<T>(count); });
        return out;
    };
}

struct row {
    const char* what;
    dims x;
    window w;
};

constexpr auto same = padding::same;
const row rows[] = {
    {"halves", {2, 4, 6, 3}, {.size = {2, 2}}},
    {"one size for both axes", {1, 5, 4, 2}, {.size = {2}}},
    {"overlapping", {1, 5, 5, 2}, {.size = {3, 3}, .strides = {1, 2}}},
    {"same", {1, 5, 3, 2}, {.size = {3, 2}, .strides = {2, 2}, .padding = same}},
    {"wide strides", {1, 7, 5, 1}, {.size = {2, 1}, .strides = {3, 2}, .padding = same}},
    {"pads", {1, 3, 3, 1}, {.size = {2, 3}, .strides = {1, 2}, .pads = {{1, 0}, {2, 1}}}},
    {"chunks of channels", {1, 2, 2, 19}, {.size = {2, 1}}},
    {"no images", {0, 4, 4, 2}, {.size = {2, 2}}},
    {"no channels", {1, 4, 4, 0}, {.size = {2, 2}}},
};

TEST_CASE("max_pool and avg_pool: values and gradients, to third order") {
    for (const row& r : rows) {
        INFO(r.what);
        // larger distances than the step of the finite differences
        op_test::node<double, 4>([&](const auto& x) { return max_pool(x * x * x, r.w); },
                                 [&](const auto& x) { return pooled<double>(r.w, true)(x * x * x); }, {r.x},
                                 {.order = 2});
        op_test::node<double, 4>([&](const auto& x) { return avg_pool(x * x, r.w); },
                                 [&](const auto& x) { return pooled<double>(r.w, false)(x * x); }, {r.x}, {.order = 2});
        op_test::node<int, 4>([&](const auto& x) { return max_pool(x, r.w); }, pooled<int>(r.w, true), {r.x});
    }
    op_test::node<double, 3>([](const auto& x) { return max_pool<window{.size = {3}, .strides = {2}}>(x); },
                             pooled<double>({.size = {3}, .strides = {2}}, true), {{2, 5, 2}});
    op_test::node<double, 5>(
        [](const auto& x) {
            return max_pool<window{.size = {2, 2, 1}, .strides = {1, 2, 2}, .padding = padding::same}>(x);
        },
        pooled<double>({.size = {2, 2, 1}, .strides = {1, 2, 2}, .padding = same}, true), {{1, 3, 3, 4, 2}});
    op_test::node<double, 5>(
        [](const auto& x) { return avg_pool<window{.size = {2, 1, 2}, .padding = padding::same}>(x); },
        pooled<double>({.size = {2, 1, 2}, .padding = same}, false), {{1, 3, 2, 3, 2}});
}

TEST_CASE("max_pool: of equals the first gets the gradient, NaN is the largest") {
    const graph g;
    const graph_scope here(g);
    const session s(g);
    const tensor<float, 1, 1, 4, 1> x(any_tensor(constant(xt::xtensor<float, 4>{{{{1.f}, {2.f}, {2.f}, {2.f}}}})));
    const tensor y = max_pool<window{.size = {1, 2}}>(x);
    const auto [dx] = gradients(y, x);
    CHECK(op_test::difference<float>(s.run(dx), {1, 1, 4, 1}, {0, 1, 1, 0}) == "");
    const float nan = std::numeric_limits<float>::quiet_NaN();
    const tensor<float, 1, 1, 4, 1> n(any_tensor(constant(xt::xtensor<float, 4>{{{{1.f}, {nan}, {5.f}, {2.f}}}})));
    const tensor largest = max_pool<window{.size = {1, 4}}>(n);
    const auto [dn] = gradients(largest, n);
    const auto [value, d] = s.run(std::tuple(largest, dn));
    CHECK(std::isnan(value(0, 0, 0, 0)));
    CHECK(op_test::difference<float>(d, {1, 1, 4, 1}, {0, 1, 0, 0}) == "");
}

TEST_CASE("max_pool and avg_pool: the same on any number of threads") {
    const graph g;
    const graph_scope here(g);
    const dims shape{6, 60, 50, 20};
    const auto x = any_placeholder("x", dtype::float32, shape);
    const window w{.size = {3, 3}, .strides = {2, 1}, .padding = same};
    const session alone(g, {.intra_op_threads = 1}), many(g, {.intra_op_threads = 4});
    const std::vector<any_array> at{op_test::point_array<float>({-1, 1}, shape)};
    for (const any_tensor& y : {max_pool(x, w), avg_pool(x, w)}) {
        const auto d = gradients({reduce_sum(y * y)}, {x});
        for (const any_tensor& of : {y, d[0]}) {
            const any_array one = op_test::run(alone, of, {x}, at), other = op_test::run(many, of, {x}, at);
            CHECK(std::ranges::equal(one.elements<float>(), other.elements<float>()));
        }
    }
}

TEST_CASE("extract_image_patches: values and gradients, to second order") {
    static constexpr window w{.size = {2, 3}, .strides = {2, 1}, .dilations = {1, 2}, .padding = padding::same};
    const auto reference = [&](const array<double>& x) {
        window_shape s;
        array<double> out = zeros_of<double>(rules::image_patches(shape_of(x), w, &s).shape);
        const index_t channels = shape_of(x)[3], positions = s.positions();
        index_t k = 0, c = 0, at = 0;
        windows(
            s, channels, x, [&] { k = 0; },
            [&](const double* v) {
                out.flat(static_cast<std::size_t>((at * positions + k++) * channels + c)) = v ? *v : 0;
            },
            [&](std::size_t to) {
                at = (static_cast<index_t>(to) + 1) / channels, c = (static_cast<index_t>(to) + 1) % channels;
            });
        return out;
    };
    op_test::node<double, 4>([](const auto& x) { return extract_image_patches<w>(x); }, reference, {{2, 3, 5, 2}});
    op_test::node<double, 4>([](const auto& x) { return extract_image_patches(x, w); }, reference, {{2, 3, 5, 2}});
    // under windows that meet nothing but pads, patches are zeros
    const auto zeros_under_pads = [](const array<double>& x) { return zeros_of<double>({shape_of(x)[0], 1, 3, 8}); };
    op_test::node<double, 4>(
        [](const auto& x) { return extract_image_patches<window{.size = {2, 2}, .pads = {{1, 1}, {0, 0}}}>(x); },
        zeros_under_pads, {{2, 0, 4, 2}});
    static_assert(std::is_same_v<decltype(extract_image_patches<window{.size = {2, 2}}>(
                                     std::declval<tensor<float, dyn, 4, 4, 3>>())),
                                 tensor<float, dyn, 3, 3, 12>>);
}

TEST_CASE("space_to_depth, depth_to_space, space_to_batch, batch_to_space") {
    const graph g;
    const graph_scope here(g);
    const session s(g);
    const placeholder<float, dyn, 4, 6, 3> x("x");
    const any_array at = op_test::point_array<float>({-1, 1}, {2, 4, 6, 3});
    const auto from = op_test::reals(at);
    const auto run = [&](const any_tensor& y) { return op_test::reals(op_test::run(s, y, {x}, {at})); };
    const tensor deep = space_to_depth<2>(x);
    static_assert(std::is_same_v<decltype(deep), const tensor<float, dyn, 2, 3, 12>>);
    const auto there = run(deep);
    for (index_t n = 0; n < 2; ++n)
        for (index_t y = 0; y < 4; ++y)
            for (index_t i = 0; i < 6; ++i)
                for (index_t c = 0; c < 3; ++c) {
                    const index_t to = ((n * 2 + y / 2) * 3 + i / 2) * 12 + (y % 2 * 2 + i % 2) * 3 + c;
                    CHECK(there[static_cast<std::size_t>(to)] ==
                          from[static_cast<std::size_t>(((n * 4 + y) * 6 + i) * 3 + c)]);
                }
    CHECK(run(depth_to_space<2>(deep)) == from);
    const tensor batches = space_to_batch<3, 2, padding{1, 1}>(x);
    static_assert(std::is_same_v<decltype(batches), const tensor<float, dyn, 2, 3, 3>>);
    const auto apart = run(batches);
    for (index_t n = 0; n < 12; ++n)
        for (index_t y = 0; y < 2; ++y)
            for (index_t i = 0; i < 3; ++i) {
                const index_t image = n % 2, row = y * 3 + n / 2 / 2 - 1, column = i * 2 + n / 2 % 2;
                const double wanted =
                    row < 0 || row > 3 ? 0 : from[static_cast<std::size_t>(((image * 4 + row) * 6 + column) * 3)];
                CHECK(apart[static_cast<std::size_t>(((n * 2 + y) * 3 + i) * 3)] == wanted);
            }
    const tensor back = batch_to_space<3, 2, padding{1, 1}>(batches);
    static_assert(std::is_same_v<decltype(back), const tensor<float, dyn, 4, 6, 3>>);
    CHECK(run(back) == from);
    CHECK_THROWS_WITH(space_to_depth<4>(any_placeholder("o", dtype::float32, {dyn, dyn, 4, 3})),
                      contains("space_to_depth: height, width and channels must be known"));
}

TEST_CASE("max_pool: shapes by types, and what is refused") {
    static_assert(
        std::is_same_v<decltype(max_pool<window{.size = {2, 2}}>(std::declval<tensor<float, dyn, 28, 27, 3>>())),
                       tensor<float, dyn, 14, 13, 3>>);
    static_assert(!detail::pool_fits<extents<1, 2, 2, 1>, window{.size = {3, 1}}>);
    const graph g;
    const graph_scope here(g);
    const auto x = any_placeholder("x", dtype::float32, {1, 3, 8, 2});
    const struct {
        window w;
        const char* why;
    } cases[] = {
        {{.size = {4, 1}}, "max_pool: the window is larger than the image"},
        {{}, "the window has no size"},
        {{.size = {0, 1}}, "the window is empty"},
        {{.size = {1, 1, 1}}, "another number of axes"},
        {{.size = {2, 2}, .strides = {-1}}, "a stride must be at least 1"},
        {{.size = {2, 2}, .dilations = {2}}, "a pool takes no dilations"},
        {{.size = {2, 2}, .pads = {{2, 0}, {0, 0}}}, "a window would lie in the padding alone"},
    };
    for (const auto& c : cases) CHECK_THROWS_WITH(max_pool(x, c.w), contains(c.why) && contains("[1, 3, 8, 2]"));
    // images without elements, whose windows meet nothing but pads
    const window padded{.size = {2, 2}, .strides = {1}, .pads = {{1, 1}, {1, 1}}};
    static_assert(!detail::pool_fits<extents<1, 0, 8, 2>, window{.size = {2}, .pads = {{1, 1}, {0, 0}}}>);
    const auto no_rows = any_placeholder("no_rows", dtype::float32, {1, 0, 8, 2}),
               no_columns = any_placeholder("no_columns", dtype::float32, {1, 3, 0, 2});
    for (const auto& [image, shape] : {std::pair{no_rows, "[1, 0, 8, 2]"}, std::pair{no_columns, "[1, 3, 0, 2]"}}) {
        const char* const why = "a window would lie in the padding alone";
        CHECK_THROWS_WITH(max_pool(image, padded), contains("max_pool: ") && contains(why) && contains(shape));
        CHECK_THROWS_WITH(avg_pool(image, padded), contains("avg_pool: ") && contains(why) && contains(shape));
    }
    CHECK_THROWS_WITH(avg_pool(x, {.size = {2, 2}, .strides = {0}}),
                      contains("avg_pool: a stride must be at least 1") && contains("[1, 3, 8, 2]"));
    CHECK_THROWS_WITH(avg_pool(x, {.size = {4, 1}}), contains("avg_pool: the window is larger than the image"));
    CHECK_THROWS_WITH((extract_image_patches<window{.size = {2, 2}, .strides = {0, 1}}>(x)),
                      contains("extract_image_patches: a stride must be at least 1") && contains("[1, 3, 8, 2]"));
    CHECK_THROWS_WITH(extract_image_patches(x, {.size = {4, 1}}),
                      contains("extract_image_patches: the window is larger than the image"));
    CHECK_THROWS_WITH((extract_image_patches<window{.size = {4, 1}}>(x)),
                      contains("extract_image_patches: the window is larger than the image"));
    const auto open = any_placeholder("open", dtype::float32, {dyn, dyn, dyn, 2});
    const session s(g);
    CHECK_THROWS_WITH(
        op_test::run(s, avg_pool(open, {.size = {4, 1}}), {open}, {any_array(dtype::float32, {1, 3, 8, 2})}),
        contains("the window is larger than the image") && contains("node 'avg_pool") && contains("max_pool.cpp") &&
            contains("[1, 3, 8, 2]"));
    CHECK_THROWS_WITH(max_pool(any_placeholder("v", dtype::float32, {4, 4}), {.size = {2}}), contains("1 to 3 axes"));
    const op_ptr made = make_op(avg_pool_op(window{.size = {2, 3}, .strides = {1}}));
    CHECK(make_op("AvgPool", 1, bytes_of_fields(*made))->equals(*made));
}

} // namespace test_ops_nn_window_max_pool
