// SPDX-License-Identifier: BSD-3-Clause
// Convolutions of all kinds against plain loops over one form: images of three axes.
#include <rill/ops/nn/window/conv2d.hpp>

#include <rill/ops/array/ones.hpp>
#include <rill/ops/math/mul.hpp>
#include <rill/ops/math/reduce_sum.hpp>
#include <rill/ops/nn/window/conv2d_transpose.hpp>
#include <rill/ops/nn/window/depthwise_conv2d.hpp>
#include <rill/ops/state/variable.hpp>

#include "ops/harness.hpp"

using namespace rill;

namespace test_ops_nn_window_conv2d {

template <class T> using array = xt::xarray<T>;

/// Calls f(output position, input position, window position) for all that meet, along one axis.
template <class F> void meet(const window_axis& a, const F& f) {
    for (index_t o = 0; o < a.out; ++o)
        for (index_t k = 0; k < a.size; ++k)
            if (const index_t i = o * a.stride + k * a.dilation - a.before; i >= 0 && i < a.in) f(o, i, k);
}

/// Calls f(flat place in y, in x, in f) for every product of a convolution.
template <class F> void products(const convolution_shape& s, bool depthwise, const F& f) {
    const auto& [d, h, w] = s.window.axis;
    const index_t outs = depthwise ? s.in * s.out : s.out;
    for (index_t n = 0; n < s.window.batch; ++n)
        meet(d, [&](index_t oz, index_t iz, index_t kz) {
            meet(h, [&](index_t oy, index_t iy, index_t ky) {
                meet(w, [&](index_t ox, index_t ix, index_t kx) {
                    const index_t y = ((n * d.out + oz) * h.out + oy) * w.out + ox;
                    const index_t x = ((n * d.in + iz) * h.in + iy) * w.in + ix;
                    const index_t k = (kz * h.size + ky) * w.size + kx;
                    for (index_t c = 0; c < s.in; ++c)
                        for (index_t o = 0; o < s.out; ++o)
                            f(y * outs + (depthwise ? c * s.out + o : o), x * s.in + c, (k * s.in + c) * s.out + o);
                });
            });
        });
}

dims shape_of(const auto& a) {
    dims d;
    for (const auto e : a.shape()) d.push(static_cast<index_t>(e));
    return d;
}

/// The convolution of two arrays by plain sums.
template <class T> auto reference(const window& w, bool depthwise) {
    return [=](const array<T>& x, const array<T>& f) {
        const dims a = shape_of(x), b = shape_of(f);
        const dims r = rules::convolution(a, b, w, depthwise).shape;
        array<T> y = xt::zeros<T>(std::vector<std::size_t>(r.extent.begin(), r.extent.begin() + r.rank));
        products(detail::shape_of_convolution(a, b, w, depthwise), depthwise,
                 [&](index_t to, index_t from, index_t by) {
                     y.flat(static_cast<std::size_t>(to)) +=
                         x.flat(static_cast<std::size_t>(from)) * f.flat(static_cast<std::size_t>(by));
                 });
        return y;
    };
}

struct row {
    const char* what;
    dims x, f;
    window w = {};
};

constexpr auto same = padding::same;
const row rows[] = {
    {"one pixel", {2, 3, 2, 3}, {1, 1, 3, 4}},
    {"valid", {1, 4, 5, 2}, {3, 2, 2, 3}},
    {"same", {2, 4, 3, 2}, {3, 3, 2, 2}, {.padding = same}},
    {"even window, the larger half behind", {1, 3, 4, 1}, {2, 4, 1, 2}, {.padding = same}},
    {"strides", {1, 5, 6, 2}, {3, 3, 2, 2}, {.strides = {2, 3}, .padding = same}},
    {"strides wider than the window", {1, 5, 5, 2}, {1, 2, 2, 2}, {.strides = {3}, .padding = same}},
    {"dilations", {1, 6, 5, 1}, {2, 3, 1, 2}, {.dilations = {3, 2}}},
    {"dilations and strides", {1, 7, 6, 1}, {2, 2, 1, 1}, {.strides = {2}, .dilations = {2, 3}, .padding = same}},
    {"pads", {1, 3, 3, 1}, {2, 2, 1, 2}, {.strides = {2, 1}, .pads = {{1, 0}, {2, 3}}}},
    {"window larger than what it meets", {1, 2, 2, 2}, {5, 5, 2, 1}, {.padding = same}},
    {"no images", {0, 3, 3, 2}, {2, 2, 2, 3}},
    {"no channels", {1, 3, 3, 0}, {2, 2, 0, 2}},
    {"no outputs", {1, 3, 3, 2}, {2, 2, 2, 0}},
};

TEST_CASE("conv2d: values and gradients, to third order") {
    for (const row& r : rows) {
        INFO(r.what);
        op_test::node<double, 4, 4>([&](const auto& x, const auto& f) { return conv2d(x, f, r.w); },
                                    reference<double>(r.w, false), {r.x, r.f}, {.order = r.x.size() < 20 ? 3 : 2});
    }
}

TEST_CASE("depthwise_conv2d: values and gradients, to second order") {
    for (const row& r : rows) {
        INFO(r.what);
        op_test::node<double, 4, 4>([&](const auto& x, const auto& f) { return depthwise_conv2d(x, f, r.w); },
                                    reference<double>(r.w, true), {r.x, r.f});
    }
    // chunks of channels, and single filters
    op_test::node<float, 4, 4>([](const auto& x, const auto& f) { return depthwise_conv2d(x, f); },
                               reference<float>({}, true), {{1, 3, 3, 37}, {2, 2, 37, 1}}, {.ulps = 1e4});
    op_test::node<double, 4, 4>([](const auto& x, const auto& f) { return depthwise_conv2d(x, f); },
                                reference<double>({}, true), {{2, 2, 3, 17}, {2, 2, 17, 1}},
                                {.order = 1, .ulps = 1024}); // four products that cancel, fused or not: 370 seen
}

TEST_CASE("conv2d and depthwise_conv2d: images without elements") {
    const graph g;
    const graph_scope here(g);
    const session s(g);
    const dims image{2, 0, 3, 2}, filter{2, 2, 2, 3};
    const auto x = any_placeholder("x", dtype::float32, image), f = any_placeholder("f", dtype::float32, filter);
    const std::vector<any_array> at{any_array(dtype::float32, image), op_test::point_array<float>({-1, 1}, filter)};
    const std::vector<double> of_filter(static_cast<std::size_t>(filter.size()), 0.);
    for (const window& w : {window{.pads = {{1, 1}, {0, 1}}}, window{.padding = same}}) // zeros, and nothing
        for (const any_tensor& y : {conv2d(x, f, w), depthwise_conv2d(x, f, w)}) {
            const any_array got = op_test::run(s, y, {x, f}, at);
            CHECK(got.shape()[1] == (w.padding == same ? 0 : 1));
            CHECK(op_test::reals(got) == std::vector<double>(static_cast<std::size_t>(got.size()), 0.));
            const auto d = gradients({reduce_sum(y * 3.f)}, {x, f});
            CHECK(op_test::run(s, d[0], {x, f}, at).shape() == image);
            CHECK(op_test::reals(op_test::run(s, d[1], {x, f}, at)) == of_filter);
        }
}

TEST_CASE("conv1d and conv3d: values and gradients") {
    op_test::node<double, 3, 3>(
        [](const auto& x, const auto& f) { return conv1d<window{.strides = {2}, .padding = padding::same}>(x, f); },
        reference<double>({.strides = {2}, .padding = same}, false), {{2, 5, 2}, {3, 2, 2}});
    op_test::node<double, 3, 3>(
        [](const auto& x, const auto& f) { return conv1d(x, f, {.strides = {2}, .pads = {{1, 2}}}); },
        reference<double>({.strides = {2}, .pads = {{1, 2}}}, false), {{2, 5, 2}, {3, 2, 2}});
    op_test::node<double, 5, 5>(
        [](const auto& x, const auto& f) {
            return conv3d<window{.strides = {1, 2, 1}, .padding = padding::same}>(x, f);
        },
        reference<double>({.strides = {1, 2, 1}, .padding = same}, false), {{1, 3, 2, 3, 1}, {2, 2, 3, 1, 2}});
    op_test::node<double, 5, 5>(
        [](const auto& x, const auto& f) { return conv3d(x, f, {.strides = {1, 2, 1}, .padding = padding::same}); },
        reference<double>({.strides = {1, 2, 1}, .padding = same}, false), {{1, 3, 2, 3, 1}, {2, 2, 3, 1, 2}});
}

TEST_CASE("conv2d: large enough for several blocks and threads, with the same result") {
    const window w{.strides = {2, 1}, .padding = same};
    const dims x{5, 33, 40, 19}, f{3, 3, 19, 21};
    const graph g;
    const graph_scope here(g);
    const auto image = any_placeholder("x", dtype::float32, x), filter = any_placeholder("f", dtype::float32, f);
    const any_tensor y = conv2d(image, filter, w);
    const auto d = gradients({reduce_sum(y * y)}, {image, filter});
    const std::vector<any_array> at{op_test::point_array<float>({-1, 1}, x),
                                    op_test::point_array<float>({-1, 1}, f, 3)};
    const session alone(g, {.intra_op_threads = 1}), many(g, {.intra_op_threads = 4});
    array<double> wide_x = op_test::detail_::host_copy<float>(at[0]),
                  wide_f = op_test::detail_::host_copy<float>(at[1]);
    const auto wanted = reference<double>(w, false)(wide_x, wide_f);
    for (const any_tensor& of : {y, d[0], d[1]}) {
        const any_array one = op_test::run(alone, of, {image, filter}, at);
        const any_array other = op_test::run(many, of, {image, filter}, at);
        CHECK(std::ranges::equal(one.elements<float>(), other.elements<float>()));
    }
    const auto got = op_test::run(alone, y, {image, filter}, at);
    CHECK(op_test::far_apart(op_test::reals(got), {wanted.begin(), wanted.end()}, 1e-5) == "");
    std::vector<double> dx(static_cast<std::size_t>(x.size())), df(static_cast<std::size_t>(f.size()));
    products(detail::shape_of_convolution(x, f, w, false), false, [&](index_t to, index_t from, index_t by) {
        const double g_y = 2 * wanted.flat(static_cast<std::size_t>(to));
        dx[static_cast<std::size_t>(from)] += g_y * wide_f.flat(static_cast<std::size_t>(by));
        df[static_cast<std::size_t>(by)] += g_y * wide_x.flat(static_cast<std::size_t>(from));
    });
    CHECK(op_test::far_apart(op_test::reals(op_test::run(alone, d[0], {image, filter}, at)), dx, 1e-4, 10) == "");
    CHECK(op_test::far_apart(op_test::reals(op_test::run(alone, d[1], {image, filter}, at)), df, 1e-4, 100) == "");
}

TEST_CASE("conv2d: bias and relu are computed with it") {
    const graph g;
    const graph_scope here(g);
    const placeholder<float, dyn, 5, 4, 3> x("x");
    const variable<float, 2, 2, 3, 4> f("f", op_test::points<float>({-1, 1}, 48));
    const variable<float, 4> b("b", {0.5f, -0.25f, 0.f, 1.f});
    const tensor plain = conv2d(x, f);
    const tensor sum = conv2d(x, f) + b, rectified = relu(conv2d(x, f) + b);
    static_assert(std::is_same_v<decltype(plain), const tensor<float, dyn, 4, 3, 4>>);
    const session s(g);
    s.run(global_variables_initializer());
    const any_array at = op_test::point_array<float>({-1, 1}, {2, 5, 4, 3}, 5);
    const auto run = [&](const any_tensor& y) { return op_test::run(s, y, {x}, {at}); };
    const auto from = op_test::reals(run(plain));
    const auto ops_in_step = [&](const any_tensor& y) {
        std::vector<std::string> ops;
        const auto [values, trace] = s.run_traced(std::vector<any_tensor>{y}, feed(any_tensor(x), at));
        for (const auto& e : trace.entries)
            if (e.op.starts_with("Conv2D")) ops.push_back(e.op);
        return ops;
    };
    using names = std::vector<std::string>;
    CHECK(ops_in_step(plain) == names{"Conv2D"});
    CHECK(ops_in_step(sum) == names{"Conv2DRow"});
    CHECK(ops_in_step(rectified) == names{"Conv2DRow"});
    const double bias[] = {0.5, -0.25, 0, 1};
    const auto summed = op_test::reals(run(sum)), clipped = op_test::reals(run(rectified));
    for (std::size_t i = 0; i < from.size(); ++i) {
        CHECK(summed[i] == Approx(from[i] + bias[i % 4]).margin(1e-5));
        CHECK(clipped[i] == Approx(std::max(from[i] + bias[i % 4], 0.)).margin(1e-5));
    }
}

TEST_CASE("conv2d_transpose: values and gradients") {
    const struct {
        dims x, f, y;
        window w;
    } cases[] = {
        {{1, 2, 3, 2}, {3, 3, 2, 2}, {1, 4, 6, 2}, {.strides = {2}, .padding = same}},
        {{2, 2, 2, 1}, {3, 2, 3, 1}, {2, 5, 4, 3}, {.strides = {2, 2}}},
        {{1, 3, 2, 2}, {1, 2, 1, 2}, {1, 6, 6, 1}, {.strides = {2, 3}}},
        {{2, 0, 3, 2}, {3, 3, 2, 2}, {2, 0, 6, 2}, {.strides = {2}, .padding = same}},
    };
    const auto one = [&]<window W>(const auto& c) {
        REQUIRE(c.w == W);
        const auto wanted = [&](const array<double>& x, const array<double>& f) {
            array<double> y = xt::zeros<double>(std::vector<std::size_t>(c.y.extent.begin(), c.y.extent.begin() + 4));
            products(detail::shape_of_convolution(c.y, c.f, W, false), false,
                     [&](index_t from, index_t to, index_t by) {
                         y.flat(static_cast<std::size_t>(to)) +=
                             x.flat(static_cast<std::size_t>(from)) * f.flat(static_cast<std::size_t>(by));
                     });
            return y;
        };
        op_test::node<double, 4, 4>([](const auto& x, const auto& f) { return conv2d_transpose<W>(x, f); }, wanted,
                                    {c.x, c.f});
        op_test::node<double, 4, 4>([](const auto& x, const auto& f) { return conv2d_transpose(x, f, W); }, wanted,
                                    {c.x, c.f}, {.order = 1});
    };
    one.operator()<window{.strides = {2}, .padding = padding::same}>(cases[0]);
    one.operator()<window{.strides = {2, 2}}>(cases[1]);
    one.operator()<window{.strides = {2, 3}}>(cases[2]);
    one.operator()<window{.strides = {2}, .padding = padding::same}>(cases[3]);
}

TEST_CASE("atrous_conv2d: a convolution with dilations") {
    constexpr window w{.dilations = {2, 2}, .padding = padding::same};
    op_test::node<double, 4, 4>([](const auto& x, const auto& f) { return atrous_conv2d<2, padding::same>(x, f); },
                                reference<double>(w, false), {{1, 5, 4, 2}, {3, 2, 2, 2}});
    static_assert(std::is_same_v<decltype(atrous_conv2d<3>(std::declval<tensor<float, dyn, 9, 9, 2>>(),
                                                           std::declval<tensor<float, 3, 3, 2, 4>>())),
                                 tensor<float, dyn, 3, 3, 4>>);
}

TEST_CASE("conv2d and its kin: windows, channels and paddings that a run refuses, with node and place") {
    const graph g;
    const graph_scope here(g);
    const session s(g);
    const auto x = any_placeholder("x", dtype::float32, {dyn, dyn, dyn, dyn}),
               f = any_placeholder("f", dtype::float32, {dyn, dyn, dyn, dyn});
    const auto refused = [&](const any_tensor& y, const dims& image, const dims& filter, const char* op,
                             const char* why) {
        INFO(op);
        CHECK_THROWS_WITH(
            op_test::run(s, y, {x, f}, {any_array(dtype::float32, image), any_array(dtype::float32, filter)}),
            contains(why) && contains(std::string("node '") + op) && contains("conv2d.cpp") &&
                contains(to_string(image)) && contains(to_string(filter)));
    };
    const char* const channels = "the channels of image and filter differ";
    refused(conv2d(x, f), {1, 4, 4, 3}, {2, 2, 2, 5}, "conv2d", channels);
    refused(conv2d(x, f), {1, 3, 4, 2}, {4, 2, 2, 5}, "conv2d", "the window is larger than the image");
    refused(depthwise_conv2d(x, f), {1, 4, 4, 3}, {2, 2, 2, 5}, "depthwise_conv2d", channels);
    refused(conv2d_transpose(x, f), {1, 4, 4, 3}, {2, 2, 5, 2}, "conv2d_transpose", channels);
    const auto image = any_placeholder("image", dtype::float32, {1, 4, 4, 3}),
               filter = any_placeholder("filter", dtype::float32, {2, 2, 2, 5});
    CHECK_THROWS_WITH(conv2d(image, filter), contains("conv2d: the channels") && contains("[1, 4, 4, 3]") &&
                                                 contains("[2, 2, 2, 5]") && contains("conv2d.cpp"));
    CHECK_THROWS_WITH(depthwise_conv2d(image, filter), contains("depthwise_conv2d: the channels") &&
                                                           contains("[1, 4, 4, 3]") && contains("[2, 2, 2, 5]") &&
                                                           contains("conv2d.cpp"));
    CHECK_THROWS_WITH(conv2d_transpose(image, filter), contains("conv2d_transpose: the channels") &&
                                                           contains("[1, 4, 4, 3]") && contains("[2, 2, 2, 5]") &&
                                                           contains("conv2d.cpp"));
    // [batch, channels, height, width], as other libraries store images
    const auto nchw = any_placeholder("nchw", dtype::float32, {1, 3, 8, 8}),
               in_first = any_placeholder("in_first", dtype::float32, {2, 2, 3, 5}),
               in_last = any_placeholder("in_last", dtype::float32, {2, 2, 5, 3});
    const char* const advice = "transpose it to [batch, .., channels]";
    CHECK_THROWS_WITH(depthwise_conv2d(nchw, in_first),
                      contains("depthwise_conv2d: ") && contains(advice) && contains("[1, 3, 8, 8]"));
    CHECK_THROWS_WITH(conv2d_transpose(nchw, in_last),
                      contains("conv2d_transpose: ") && contains(advice) && contains("[1, 3, 8, 8]"));
    const auto transposed = [&](const dims& of, const dims& by, const window& w) {
        return conv2d_transpose(any_placeholder("of", dtype::float32, of), any_placeholder("by", dtype::float32, by),
                                w);
    };
    CHECK_THROWS_WITH(transposed({1, 0, 4, 3}, {2, 2, 5, 3}, {}),
                      contains("conv2d_transpose: an extent of the image is 0") && contains("[1, 0, 4, 3]"));
    CHECK_THROWS_WITH(transposed({1, 4, 4, 3}, {0, 2, 5, 3}, {}),
                      contains("conv2d_transpose: the window is empty") && contains("[0, 2, 5, 3]"));
    CHECK_THROWS_WITH(transposed({1, 4, 4, 3}, {2, 2, 5, 3}, {.size = {2, 2}}),
                      contains("the window's size is the filter's"));
    CHECK_THROWS_WITH(transposed({1, 4, 4, 3}, {2, 2, 5, 3}, {.pads = {{1, 1}, {0, 0}}}),
                      contains("takes the padding valid or same"));
    const auto good = any_placeholder("good", dtype::float32, {2, 2, 3, 5});
    CHECK_THROWS_WITH(depthwise_conv2d(image, good, {.strides = {0}}),
                      contains("depthwise_conv2d: a stride must be at least 1"));
}

TEST_CASE("separable_conv2d: a depthwise convolution and one of pixels") {
    const graph g;
    const graph_scope here(g);
    const tensor x = ones<float, 1, 3, 3, 2>();
    const tensor f = ones<float, 2, 2, 2, 1>();
    const tensor p = ones<float, 1, 1, 2, 1>();
    const session s(g);
    CHECK(op_test::difference<float>(s.run(separable_conv2d(x, f, p)), {1, 2, 2, 1}, {8, 8, 8, 8}) == "");
    const any_tensor wide = separable_conv2d(x, f, p, {.strides = {2, 2}, .padding = same});
    CHECK(op_test::difference<float>(op_test::run(s, wide, {}, {}), {1, 2, 2, 1}, {8, 4, 4, 2}) == "");
}

TEST_CASE("conv2d: shapes by types, and what is refused with the op, the shapes and the reason") {
    using image = tensor<float, dyn, 28, 28, 1>;
    using filter = tensor<float, 5, 5, 1, 32>;
    static_assert(std::is_same_v<decltype(conv2d<window{.strides = {2, 2}, .padding = padding::same}>(
                                     std::declval<image>(), std::declval<filter>())),
                                 tensor<float, dyn, 14, 14, 32>>);
    static_assert(std::is_same_v<decltype(conv2d(std::declval<image>(), std::declval<filter>())),
                                 tensor<float, dyn, 24, 24, 32>>);
    static_assert(!detail::window_fits<extents<1, 3, 3, 1>, extents<4, 1, 1, 1>, window{}>);
    static_assert(!detail::window_fits<extents<1, 3, 3, 1>, extents<1, 1, 1, 1>, window{.strides = {0, 1}}>);
    const graph g;
    const graph_scope here(g);
    const auto x = any_placeholder("x", dtype::float32, {1, 3, 8, 8}),
               f = any_placeholder("f", dtype::float32, {2, 2, 3, 4});
    const auto nhwc = any_placeholder("y", dtype::float32, {1, 8, 8, 3}),
               wide = any_placeholder("f", dtype::float32, {9, 2, 3, 4});
    CHECK_THROWS_WITH(conv2d(x, f), contains("conv2d") && contains("transpose") && contains("[1, 3, 8, 8]") &&
                                        contains("[2, 2, 3, 4]"));
    CHECK_THROWS_WITH(conv2d(nhwc, wide), contains("conv2d: the window is larger than the image"));
    CHECK_THROWS_WITH(conv2d(nhwc, f, {.strides = {0}}), contains("a stride must be at least 1"));
    CHECK_THROWS_WITH(conv2d(nhwc, f, {.dilations = {0}}), contains("a dilation must be at least 1"));
    CHECK_THROWS_WITH(conv2d(nhwc, f, {.strides = {1, 1, 1}}), contains("another number of axes"));
    CHECK_THROWS_WITH(conv2d(nhwc, f, {.pads = {{-1, 0}, {0, 0}}}), contains("a padding must not be negative"));
    CHECK_THROWS_WITH(conv2d(nhwc, f, {.size = {2, 2}}), contains("the window's size is the filter's"));
    CHECK_THROWS_WITH(conv2d(any_placeholder("v", dtype::float32, {8, 8, 3}), f),
                      contains("conv2d: ") && contains("rank 4 is expected"));
    CHECK_THROWS_WITH(conv1d(nhwc, f), contains("conv1d: ") && contains("rank 3 is expected"));
    CHECK_THROWS_WITH(conv3d(nhwc, f), contains("conv3d: ") && contains("rank 5 is expected"));
    CHECK_THROWS_WITH(depthwise_conv2d(any_placeholder("v", dtype::float32, {8, 8, 3}), f),
                      contains("depthwise_conv2d: ") && contains("rank 4 is expected"));
    const auto open = any_placeholder("o", dtype::float32, {dyn, dyn, dyn, 3});
    const session s(g);
    CHECK_THROWS_WITH(
        s.run(conv2d(open, wide), std::vector<feed_value>{{open, {}, any_array(dtype::float32, {1, 8, 8, 3})},
                                                          {wide, {}, any_array(dtype::float32, {9, 2, 3, 4})}}),
        contains("the window is larger than the image") && contains("[1, 8, 8, 3]"));
    const op_ptr made = make_op(conv2d_op(window{.strides = {2, 1}, .pads = {{1, 0}, {2, 3}}}));
    CHECK(make_op("Conv2D", 1, bytes_of_fields(*made))->equals(*made));
    CHECK_FALSE(make_op("Conv2D")->equals(*made));
}

} // namespace test_ops_nn_window_conv2d
