// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/image/resize_image.hpp>

#include <cmath>
#include <cstdlib>
#include <numeric>

#include <rill/io/png.hpp>
#include <rill/io/zlib.hpp>
#include <rill/ops/array/placeholder.hpp>
#include <rill/ops/catalogue.hpp>
#include <rill/ops/image/decode_image.hpp>
#include <rill/ops/image/image_adjustments.hpp>
#include <rill/session/session.hpp>

#include "catch.hpp"
#include "io/stored.hpp"
#include "seeds.hpp"

using namespace rill;

namespace test_ops_image_resize_image {

TEST_CASE("resize_image: bilinear, nearest and area by hand") {
    const graph_scope here{graph()};
    const auto x = reshape<1, 2, 2, 1>(constant({0.f, 10.f, 20.f, 30.f}));
    const auto up = resize_bilinear<4, 4>(x);
    const auto near = resize_nearest_neighbor<4, 2>(x);
    static_assert(std::is_same_v<decltype(up), const tensor<float, 1, 4, 4, 1>>);
    const session s;
    const auto u = s.run(up), n = s.run(near), a = s.run(resize_area<1, 1>(x));
    CHECK(
        (u(0, 0, 1, 0) == 5 && u(0, 1, 1, 0) == 15 && u(0, 3, 3, 0) == 30)); // as TensorFlow 1: the last pixel repeats
    CHECK((n(0, 0, 0, 0) == 0 && n(0, 1, 1, 0) == 10 && n(0, 2, 0, 0) == 20));
    CHECK(a(0, 0, 0, 0) == 15);
    const auto third =
        s.run(resize_area<2, 2>(reshape<3, 3, 1>(constant({0.f, 1.f, 2.f, 3.f, 4.f, 5.f, 6.f, 7.f, 8.f}))));
    CHECK(third(0, 0, 0) == Approx((0 + 0.5 * 1 + 0.5 * 3 + 0.25 * 4) / 2.25));
}

TEST_CASE("resize_image: gradients of all methods beside finite differences, and of the gradient") {
    const graph_scope here{graph()};
    placeholder<float, 2, 3, 4, 2> x("x");
    xt::xtensor<float, 4> at({2, 3, 4, 2});
    for (std::size_t i = 0; i < at.size(); ++i) at.flat(i) = static_cast<float>(i * 7 % 11) / 4 - 1;
    const session s;
    const auto matches = [&](const auto& resized) {
        const auto loss = reduce_sum(resized * resized * resized);
        const auto [dx] = gradients(loss, x);
        const auto [d2x] = gradients(reduce_sum(dx * dx), x);
        const auto first = s.run(dx, feed(x, at)), second = s.run(d2x, feed(x, at));
        const auto squares = reduce_sum(dx * dx);
        for (std::size_t i = 0; i < at.size(); i += 5) {
            auto low = at, high = at;
            low.flat(i) -= 0.0625f;
            high.flat(i) += 0.0625f;
            const auto [l0, q0] = s.run(std::tuple(loss, squares), feed(x, low));
            const auto [l1, q1] = s.run(std::tuple(loss, squares), feed(x, high));
            CHECK(first.flat(i) == Approx((l1 - l0) / 0.125f).epsilon(0.02).margin(0.05));
            CHECK(second.flat(i) == Approx((q1 - q0) / 0.125f).epsilon(0.02).margin(0.5));
        }
    };
    matches(resize_bilinear<5, 3>(x));
    matches(resize_nearest_neighbor<2, 7>(x));
    matches(resize_area<2, 3>(x));
}

TEST_CASE("images: flips, crops, brightness, contrast, standardization") {
    const graph_scope here{graph()};
    const auto x = sealed(reshape<2, 3, 1>(constant({1, 2, 3, 4, 5, 6})));
    const session s;
    CHECK(s.run(flip_left_right(x))(0, 0, 0) == 3);
    CHECK(s.run(flip_up_down(x))(0, 0, 0) == 4);
    CHECK(s.run(crop<1, 2, 1>(x, 1, 1))(0, 1, 0) == 6);
    CHECK(s.run(adjust_brightness(x, 0.5f))(1, 2, 0) == 6.5f);
    CHECK(s.run(adjust_contrast(x, 2.f))(0, 0, 0) == Approx(3.5 - 5));
    const auto z = s.run(per_image_standardization(x));
    float sum = 0, squares = 0;
    for (const float v : z) sum += v, squares += v * v;
    CHECK(sum == Approx(0).margin(1e-5));
    CHECK(squares == Approx(6).epsilon(1e-4));
    const auto flat = s.run(per_image_standardization(sealed(reshape<2, 2, 1>(constant({5.f, 5.f, 5.f, 5.f})))));
    CHECK(flat(0, 0, 0) == 0);
}

TEST_CASE("decode_image: PNG files as they were written, and damaged ones") {
    const graph_scope here{graph()};
    placeholder<std::string> bytes("bytes");
    const auto image = decode_png(bytes);
    const auto grey = decode_image<1>(bytes);
    const session s;
    CHECK_THROWS_WITH(s.run(image, feed(bytes, "GIF89a")), contains("neither a PNG nor a JPEG image"));
    if (!detail::has_turbojpeg()) CHECK_THROWS_AS(s.run(image, feed(bytes, "\xff\xd8\xff\xe0")), unimplemented);
    if (!detail::has_libpng()) {
        WARN("skipped: libpng was not found, and no PNG image is decoded");
        return;
    }
    for (const int channels : {1, 2, 3, 4}) {
        std::vector<std::uint8_t> samples(static_cast<std::size_t>(5 * 7 * channels));
        for (std::size_t i = 0; i < samples.size(); ++i)
            samples[i] =
                channels % 2 == 0 && i % static_cast<std::size_t>(channels) == static_cast<std::size_t>(channels) - 1
                    ? 255
                    : static_cast<std::uint8_t>(i * 7);
        const std::string file = detail::png_bytes(samples, 5, 7, channels);
        const auto got = s.run(image, feed(bytes, file));
        REQUIRE((got.shape(0) == 5 && got.shape(1) == 7 && got.shape(2) == static_cast<std::size_t>(channels)));
        CHECK(std::equal(samples.begin(), samples.end(), got.begin()));
        CHECK(s.run(grey, feed(bytes, file)).shape(2) == 1);
        for (std::size_t cut = 9; cut < file.size() - 40; cut += 5)
            CHECK_THROWS_AS(s.run(image, feed(bytes, file.substr(0, cut))), data_loss);
        for (std::size_t bit = 0; bit < file.size() * 8; bit += 7) { // another image, or an error
            auto flipped = file;
            flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ 1 << bit % 8);
            try {
                detail::decode_image(flipped, 0);
            } catch (const error& problem) {
                CHECK((problem.code() == error_code::data_loss || problem.code() == error_code::invalid_argument));
            }
        }
        auto damaged = file;
        damaged[file.size() / 2] = static_cast<char>(damaged[file.size() / 2] ^ 32);
        CHECK_THROWS_AS(s.run(image, feed(bytes, damaged)), data_loss);
    }
    // colors stay as they are where alpha is left out, however little of them is to be seen
    const auto pale = detail::png_bytes(std::vector<std::uint8_t>{200, 0, 90, 255, 7, 30}, 1, 3, 2);
    const auto solid = s.run(grey, feed(bytes, pale));
    CHECK((solid(0, 0, 0) == 200 && solid(0, 1, 0) == 90 && solid(0, 2, 0) == 7));
    std::string huge = detail::png_bytes(std::vector<std::uint8_t>(4), 2, 2, 1);
    huge[16] = huge[20] = 0x7f;
    const std::uint32_t crc = detail::crc32(std::string_view(huge).substr(12, 17));
    for (std::size_t i = 0; i < 4; ++i) huge[29 + i] = static_cast<char>(crc >> (24 - 8 * i));
    CHECK_THROWS_AS(s.run(image, feed(bytes, huge)), data_loss);
    const auto theirs = s.run(image, feed(bytes, io_test::stored_bytes("color.png")));
    CHECK((theirs.shape(0) == 12 && theirs(11, 19, 0) == 228 && theirs(11, 19, 1) == 220 && theirs(0, 0, 2) == 255));
}

TEST_CASE("decode_image: JPEG files of Pillow, in color and grey, and damaged ones", "[random]") {
    if (!detail::has_turbojpeg()) {
        WARN("skipped: libturbojpeg was not found, and no JPEG image is decoded");
        return;
    }
    const auto color = io_test::stored_bytes("color.jpg"), grey = io_test::stored_bytes("grey.jpg");
    const auto near = [](const any_array& image, index_t y, index_t x, index_t channel, int value) {
        const dims& shape = image.shape();
        const auto at = static_cast<std::size_t>((y * shape[1] + x) * shape[2] + channel);
        return std::abs(image.elements<std::uint8_t>()[at] - value) <= 6;
    };
    const auto all = detail::decode_image(color, 0), one = detail::decode_image(color, 1),
               alone = detail::decode_image(grey, 0), three = detail::decode_image(grey, 3);
    CHECK((all.shape() == dims{12, 20, 3} && one.shape() == dims{12, 20, 1} && alone.shape() == dims{12, 20, 1} &&
           three.shape() == dims{12, 20, 3}));
    for (const index_t y : {0, 5, 11})
        for (const index_t x : {0, 9, 19}) {
            CHECK((near(all, y, x, 0, static_cast<int>(x * 12)) && near(all, y, x, 1, static_cast<int>(y * 20)) &&
                   near(all, y, x, 2, static_cast<int>(255 - x * 6 - y * 10))));
            CHECK((near(alone, y, x, 0, static_cast<int>(x * 12)) && near(three, y, x, 2, static_cast<int>(x * 12))));
        }
    CHECK_THROWS_AS(detail::decode_image(color, 2), invalid_argument);
    for (std::size_t cut = 3; cut < color.size() - 2; cut += 29)
        CHECK_THROWS_AS(detail::decode_image(color.substr(0, cut), 0), data_loss);
    seeds::each(200, [&](std::uint64_t seed) {
        seeds::draws draw(seed);
        auto damaged = draw(2) == 0 ? color : grey;
        for (std::size_t i = 0, n = 1 + draw(6); i < n; ++i)
            damaged[draw(damaged.size())] = static_cast<char>(draw(256));
        try { // another image, or an error
            const auto made = detail::decode_image(damaged, 0);
            CHECK(made.shape()[0] * made.shape()[1] <= index_t(1) << 28);
        } catch (const error& problem) {
            CHECK((problem.code() == error_code::data_loss || problem.code() == error_code::invalid_argument));
        }
    });
}

} // namespace test_ops_image_resize_image
