// SPDX-License-Identifier: BSD-3-Clause
// Quantised numbers: conversions, products, and the rounding that training simulates.
#include <rill/ops/quantized/quantize.hpp>

#include <rill/ops/linalg/matmul.hpp>
#include <rill/ops/nn/window/conv2d.hpp>
#include <rill/ops/quantized/fake_quant.hpp>
#include <rill/ops/quantized/quantized_conv2d.hpp>

#include "ops/harness.hpp"

using namespace rill;

namespace test_ops_quantized_quantize {

using floats = std::vector<float>;
static_assert(std::is_same_v<decltype(quantize<quint8>(tensor<float, 2, 3>(), 0, 1)),
                             std::tuple<tensor<quint8, 2, 3>, tensor<float>, tensor<float>>>);
static_assert(std::is_same_v<decltype(dequantize(tensor<qint8, dyn, 3>(), 0, 1)), tensor<float, dyn, 3>>);
static_assert(
    std::is_same_v<decltype(std::get<0>(quantized_matmul(tensor<quint8, 2, 3>(), tensor<quint8, 3, 4>(), 0, 1, 0, 1))),
                   tensor<qint32, 2, 4>&&>);

template <class Q> std::vector<int> integers(const any_array& a) {
    std::vector<int> all;
    for (const Q q : a.elements<Q>()) all.push_back(q.value);
    return all;
}

std::vector<double> doubles(const any_array& a) {
    return std::vector<double>(a.elements<float>().begin(), a.elements<float>().end());
}

TEST_CASE("quantize, dequantize: integers and the numbers that they stand for") {
    const graph g;
    const graph_scope here(g);
    const session s(g);
    const placeholder<float, dyn> x("x");
    const floats at{-2, -1, 0, 0.5f, 1, 7};
    const feed_value feed_x = feed(x, at);
    {
        const auto [q, low, high] = quantize<quint8>(x, -1, 1);
        CHECK(integers<quint8>(s.run(any_tensor(q), feed_x)) == std::vector<int>{0, 0, 128, 191, 255, 255});
        CHECK(s.run(low, feed_x) == -1);
        CHECK(s.run(high, feed_x) == 1);
        const auto back = op_test::list(s.run(dequantize(q, low, high), feed_x));
        for (std::size_t i = 0; i < at.size(); ++i)
            CHECK(std::abs(back[i] - std::clamp(at[i], -1.f, 1.f)) <= 1.001f / 255);
    }
    {
        const auto [q, low, high] = quantize<qint8>(x, -1, 1);
        CHECK(integers<qint8>(s.run(any_tensor(q), feed_x)) == std::vector<int>{-128, -128, -1, 63, 127, 127});
    }
    {
        const auto [q, low, high] = quantize<quint8>(x, -1, 1, quantize_mode::min_first);
        const auto back = op_test::list(s.run(dequantize(q, low, high, quantize_mode::min_first), feed_x));
        CHECK(back[2] == 0); // exactly
        CHECK(std::abs(back[3] - 0.5f) <= 1.001f / 255);
    }
    {
        const auto [q, low, high] = quantize<qint32>(x, -1, 1);
        const auto back = op_test::list(s.run(dequantize(q, low, high), feed_x));
        CHECK(std::abs(back[3] - 0.5f) < 1e-6f);
    }
    const auto [q, low, high] = quantize<quint8>(x, 2, 2); // becomes wide enough
    CHECK(s.run(low, feed_x) == 0);
    CHECK(s.run(high, feed_x) == 2);
}

TEST_CASE("requantize, quantized_relu: sums in a byte each") {
    const graph g;
    const graph_scope here(g);
    const session s(g);
    const auto x = any_placeholder("x", dtype::qint32, {3});
    const auto at = op_test::make_array<qint32>({3}, {qint32{-1000}, qint32{0}, qint32{2000}});
    const float level = 1e-3f; // a sum of 1000 stands for 1
    const float from = level * -2147483648.f, to = level * 2147483647.f;
    const auto [low, high] = requantization_range(x, from, to);
    CHECK(op_test::far_apart(doubles(op_test::run(s, low, {x}, {at})), {-1}, 1e-5) == "");
    CHECK(op_test::far_apart(doubles(op_test::run(s, high, {x}, {at})), {2}, 1e-5) == "");
    const auto [q, q_low, q_high] = requantize<quint8>(x, from, to, -1, 2);
    CHECK(integers<quint8>(op_test::run(s, q, {x}, {at})) == std::vector<int>{0, 85, 255});
    const auto [positive, p_low, p_high] = quantized_relu(q, q_low, q_high);
    CHECK(integers<quint8>(op_test::run(s, positive, {x}, {at})) == std::vector<int>{85, 85, 255});
    CHECK(doubles(op_test::run(s, p_high, {x}, {at})) == std::vector<double>{2});
}

/// Quantised numbers as the reals that they stand for.
template <class Q> any_array reals_of(const any_array& a, float low, float high) {
    any_array y(dtype::float64, a.shape());
    for (index_t i = 0; i < a.size(); ++i)
        static_cast<double*>(y.mutable_data())[i] = static_cast<double>(
            quantized_range{low, high}.real(a.elements<Q>()[static_cast<std::size_t>(i)], quantize_mode::min_first));
    return y;
}
template <class Q> any_array drawn(const dims& shape, int salt) {
    any_array a(dtype_of<Q>, shape);
    for (index_t i = 0; i < a.size(); ++i)
        static_cast<Q*>(a.mutable_data())[i] = Q{static_cast<decltype(Q::value)>((i * 37 + salt * 101) % 256)};
    return a;
}

TEMPLATE_TEST_CASE("quantized_matmul, quantized_conv2d: as products of reals", "", qint8, quint8) {
    using Q = TestType;
    const graph g;
    const graph_scope here(g);
    const session s(g);
    const auto a = any_placeholder("a", dtype_of<Q>), b = any_placeholder("b", dtype_of<Q>);
    const auto x = any_placeholder("x", dtype::float64), y = any_placeholder("y", dtype::float64);
    const auto compare = [&](const auto& made, const any_tensor& wanted, const dims& of_a, const dims& of_b) {
        const auto& [sums, low, high] = made;
        const any_array at = drawn<Q>(of_a, 1), by = drawn<Q>(of_b, 2);
        const any_array got =
            op_test::run(s, dequantize(any_tensor(sums), low, high, quantize_mode::min_first), {a, b}, {at, by});
        const any_array exact = op_test::run(s, wanted, {x, y}, {reals_of<Q>(at, -1, 2), reals_of<Q>(by, -3, 1)});
        CHECK(got.shape() == exact.shape());
        CHECK(op_test::far_apart(doubles(got), op_test::reals(exact), 2e-6, 10) == ""); // a level is 2e-4
    };
    compare(quantized_matmul(a, b, -1, 2, -3, 1), matmul(x, y), {5, 7}, {7, 19});
    compare(quantized_matmul(a, b, -1, 2, -3, 1), matmul(x, y), {2, 0}, {0, 3});
    compare(quantized_matmul(a, b, -1, 2, -3, 1), matmul(x, y), {0, 3}, {3, 2});
    constexpr window w{.strides = {2, 1}, .padding = padding::same};
    compare(quantized_conv2d<w>(a, b, -1, 2, -3, 1), conv2d<w>(x, y), {2, 5, 4, 3}, {3, 2, 3, 18});
}

TEST_CASE("fake_quant: rounded values, and gradients that pass") {
    const graph g;
    const graph_scope here(g);
    const session s(g);
    const placeholder<float, dyn> x("x");
    const placeholder<float> low("low"), high("high");
    const floats at{-0.3f, -0.1f, 0, 0.26f, 0.55f, 0.9f, 1.3f};
    const auto run = [&](const auto& y) {
        return op_test::list(s.run(y, feed(x, at), feed(low, -0.1f), feed(high, 0.9f)));
    };
    // three bits and the range [-0.1, 0.9]: steps of 1 / 7, and 0 is the first of them from -1 / 7 on
    const auto y = fake_quant_with_min_max_vars(x, low, high, {.num_bits = 3});
    const floats wanted{-1 / 7.f, -1 / 7.f, 0, 2 / 7.f, 4 / 7.f, 6 / 7.f, 6 / 7.f}, got = run(y);
    for (std::size_t i = 0; i < at.size(); ++i) CHECK(std::abs(got[i] - wanted[i]) < 1e-6f);
    const auto [dx, dlow, dhigh] = gradients(y, x, low, high);
    CHECK(run(dx) == floats{0, 1, 1, 1, 1, 0, 0});
    CHECK(s.run(dlow, feed(x, at), feed(low, -0.1f), feed(high, 0.9f)) == 1);
    CHECK(s.run(dhigh, feed(x, at), feed(low, -0.1f), feed(high, 0.9f)) == 2);
    const auto byte = fake_quant_with_min_max_args(x, -1, 1);
    const auto [d] = gradients(byte, x);
    CHECK(run(d) == floats{1, 1, 1, 1, 1, 1, 0});
    const auto bytes = run(byte);
    for (std::size_t i = 0; i + 1 < at.size(); ++i) CHECK(std::abs(bytes[i] - at[i]) < 1.01f / 255);
    const placeholder<float, dyn, 2> rows("rows");
    const placeholder<float, 2> lows("lows"), highs("highs");
    const xt::xtensor<float, 2> two{{0.4f, 0.4f}};
    const auto both = op_test::list(s.run(fake_quant_with_min_max_vars_per_channel(rows, lows, highs, {.num_bits = 2}),
                                          feed(rows, two), feed(lows, {0.f, 0.f}), feed(highs, {3.f, 0.3f})));
    CHECK(std::abs(both[0]) < 1e-6f);
    CHECK(std::abs(both[1] - 0.3f) < 1e-6f);
    const auto nothing = [&](const auto& of) { return s.run(of, feed(x, at), feed(low, 0.f), feed(high, 0.f)); };
    CHECK(op_test::list(nothing(y)) == floats(at.size(), 0.f)); // as in TensorFlow
    CHECK(op_test::list(nothing(dx)) == floats{0, 0, 1, 0, 0, 0, 0});
    CHECK_THROWS_WITH(fake_quant_with_min_max_args(x, 1, 1), contains("is empty"));
    CHECK_THROWS_WITH(fake_quant_with_min_max_args(x, -1, 1, {.num_bits = 17}), contains("num_bits is 17"));
}

TEST_CASE("quantize and its kin: ranges and operands that are refused") {
    const graph g;
    const graph_scope here(g);
    const session s(g);
    const placeholder<float, dyn> x("x");
    const placeholder<float> low("low"), high("high");
    const auto [q, q_low, q_high] = quantize<quint8>(x, low, high);
    const auto run = [&](float from, float to) {
        return s.run(any_tensor(q), feed(x, floats{1}), feed(low, from), feed(high, to));
    };
    CHECK_THROWS_WITH(run(2, 1), contains("the range is empty") && contains("node 'quantize'"));
    CHECK_THROWS_WITH(run(std::numeric_limits<float>::quiet_NaN(), 1), contains("the range is empty"));
    CHECK_THROWS_WITH(run(0, std::numeric_limits<float>::infinity()), contains("the range is empty"));
    const auto bytes = any_placeholder("bytes", dtype::quint8, {1});
    const auto [positive, p_low, p_high] = quantized_relu(bytes, low, high);
    CHECK_THROWS_WITH(op_test::run(s, positive, {bytes, low, high},
                                   {op_test::make_array<quint8>({1}, {quint8{7}}), op_test::make_array<float>({}, {2}),
                                    op_test::make_array<float>({}, {std::numeric_limits<float>::quiet_NaN()})}),
                      contains("the range is empty"));
    const float nan = std::numeric_limits<float>::quiet_NaN();
    const auto scalar = [](float v) { return op_test::make_array<float>({}, {v}); };
    const auto refused = [&](const any_tensor& y, const std::vector<any_tensor>& fed, std::vector<any_array> at,
                             const char* node, const char* range, const char* type) {
        for (const auto& [from, to] : {std::pair{2.f, 1.f}, std::pair{nan, 1.f}, std::pair{0.f, nan}}) {
            auto inputs = fed;
            auto values = at;
            for (const auto& end : {any_tensor(low), any_tensor(high)}) inputs.push_back(end);
            for (const float v : {from, to}) values.push_back(scalar(v));
            CHECK_THROWS_WITH(op_test::run(s, y, inputs, values),
                              contains(node) && contains(range) &&
                                  contains("is empty, or an end of it is not a finite number") && contains(type) &&
                                  contains("quantize.cpp"));
        }
    };
    const auto two = op_test::make_array<quint8>({2, 2}, {quint8{1}, quint8{2}, quint8{3}, quint8{4}});
    const auto sums = any_placeholder("sums", dtype::qint32, {3});
    const auto three = op_test::make_array<qint32>({3}, {qint32{1}, qint32{2}, qint32{3}});
    const auto c = any_placeholder("c", dtype::quint8), d = any_placeholder("d", dtype::quint8);
    const auto first = [](const auto& all) { return any_tensor(std::get<0>(all)); };
    refused(any_tensor(q), {x}, {op_test::make_array<float>({1}, {1})}, "quantize: ", "the range", "float32 [1]");
    refused(any_tensor(dequantize(c, low, high)), {c}, {two}, "dequantize: ", "the range", "quint8 [2, 2]");
    refused(first(requantize<qint8>(sums, low, high, 0, 1)), {sums}, {three}, "requantize: ", "the range",
            "qint32 [3]");
    refused(first(requantize<qint8>(sums, 0, 1, low, high)), {sums}, {three}, "requantize: ", "the new range",
            "qint8 [3]");
    refused(first(quantized_matmul(c, d, low, high, 0, 1)), {c, d}, {two, two},
            "quantized_matmul: ", "the range of the first operand", "quint8 [2, 2]");
    refused(first(quantized_matmul(c, d, 0, 1, low, high)), {c, d}, {two, two},
            "quantized_matmul: ", "the range of the second operand", "quint8 [2, 2]");
    const auto image = op_test::make_array<quint8>({1, 2, 2, 1}, {quint8{1}, quint8{2}, quint8{3}, quint8{4}});
    refused(first(quantized_conv2d(c, d, low, high, 0, 1)), {c, d},
            {image, op_test::make_array<quint8>({1, 1, 1, 1}, {quint8{1}})},
            "quantized_conv2d: ", "the range of the first operand", "quint8 [1, 2, 2, 1]");
    refused(first(quantized_conv2d(c, d, 0, 1, low, high)), {c, d},
            {image, op_test::make_array<quint8>({1, 1, 1, 1}, {quint8{1}})},
            "quantized_conv2d: ", "the range of the second operand", "quint8 [1, 1, 1, 1]");
    const placeholder<float, dyn, 2> reals("reals");
    const auto real = op_test::make_array<float>({1, 2}, {0.5f, 1});
    refused(fake_quant_with_min_max_vars(reals, low, high), {reals}, {real},
            "fake_quant_with_min_max_vars: ", "node 'fake_quant_with_min_max_vars", "float32 [1, 2]");
    const placeholder<float, 2> lows("lows"), highs("highs");
    const tensor<float, dyn, 2> by_channel = fake_quant_with_min_max_vars_per_channel(reals, lows, highs);
    const auto channels = [&](float from, float to) {
        return op_test::run(
            s, by_channel, {reals, lows, highs},
            {real, op_test::make_array<float>({2}, {0, from}), op_test::make_array<float>({2}, {1, to})});
    };
    CHECK_NOTHROW(channels(0, 0));
    for (const auto& [from, to] : {std::pair{2.f, 1.f}, std::pair{nan, 1.f}, std::pair{0.f, nan},
                                   std::pair{0.f, std::numeric_limits<float>::infinity()}})
        CHECK_THROWS_WITH(channels(from, to), contains("the range is empty, or an end of it is not a finite number") &&
                                                  contains("float32 [1, 2]") && contains("node 'fake_quant") &&
                                                  contains("quantize.cpp"));
    CHECK_THROWS_WITH(s.run(gradients(fake_quant_with_min_max_vars(x, low, high), x), feed(x, floats{1}),
                            feed(low, 2.f), feed(high, 1.f)),
                      contains("the range is empty"));
    CHECK(quantized_range{0, 1e-40f}.zero_point<quint8>() == 0); // without a scale
    const auto a = any_placeholder("a", dtype::quint8, {2, 3}), b = any_placeholder("b", dtype::qint8, {3, 2}),
               f = any_placeholder("f", dtype::float32, {2, 3});
    CHECK_THROWS_WITH(quantized_matmul(a, b, 0, 1, 0, 1), contains("the dtypes differ"));
    CHECK_THROWS_WITH(quantized_matmul(a, a, 0, 1, 0, 1), contains("the inner extents differ"));
    CHECK_THROWS_WITH(quantized_matmul(f, f, 0, 1, 0, 1), contains("float32"));
    CHECK_THROWS_WITH(dequantize(a, f, 1), contains("one float32"));
    quantize_op made;
    made.type = dtype::qint8;
    CHECK(make_op("QuantizeV2", 1, bytes_of_fields(*make_op(made)))->equals(*make_op(made)));
}

TEST_CASE("quantized_conv2d, requantize, quantized_relu: a layer in eight bits equals the layer of reals") {
    const graph g;
    const graph_scope here(g);
    const session s(g);
    const placeholder<float, 2, 5, 4, 3> x("x");
    const placeholder<float, 3, 2, 3, 6> f("f");
    constexpr window w{.strides = {2, 1}, .padding = padding::same};
    const tensor wanted = relu(conv2d<w>(x, f));
    constexpr auto mode = quantize_mode::min_first;
    const auto [xq, x_low, x_high] = quantize<quint8>(x, -1.f, 1.f, mode);
    const auto [fq, f_low, f_high] = quantize<quint8>(f, -1.f, 1.f, mode);
    const auto [sums, low, high] = quantized_conv2d<w>(xq, fq, x_low, x_high, f_low, f_high);
    const auto [used_low, used_high] = requantization_range(sums, low, high);
    const auto [bytes, b_low, b_high] = requantize<quint8>(sums, low, high, used_low, used_high);
    const auto [positive, p_low, p_high] = quantized_relu(bytes, b_low, b_high);
    const auto got = dequantize(positive, p_low, p_high, mode);
    static_assert(std::is_same_v<std::remove_const_t<decltype(got)>, tensor<float, 2, 3, 4, 6>>);
    const auto at = op_test::point_array<float>({-1, 1}, {2, 5, 4, 3}),
               by = op_test::point_array<float>({-1, 1}, {3, 2, 3, 6}, 3);
    const std::vector<feed_value> feeds{feed(any_tensor(x), at), feed(any_tensor(f), by)};
    const auto both = s.run(std::vector<any_tensor>{got, wanted, used_low, used_high}, feeds);
    const auto value = op_test::reals(both[0]), exact = op_test::reals(both[1]);
    // 18 products of numbers that are off by a 255th each, and the last rounding
    const double range = op_test::reals(both[3])[0] - op_test::reals(both[2])[0];
    double furthest = 0, largest = 0;
    for (std::size_t i = 0; i < value.size(); ++i) {
        furthest = std::max(furthest, std::abs(value[i] - exact[i]));
        largest = std::max(largest, exact[i]);
        CHECK(value[i] >= -range / 255);
    }
    CHECK(largest > 1);
    CHECK(furthest < 18 * 2. / 255 + range / 255);
    CHECK(furthest > 0); // eight bits
}

} // namespace test_ops_quantized_quantize
