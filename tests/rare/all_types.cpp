// SPDX-License-Identifier: BSD-3-Clause
#include <rill/all_types.hpp>

#include <algorithm>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <iterator>
#include <string>
#include <vector>

#include <rill/graph/serialization/serialization.hpp>

#include "catch.hpp"

using namespace rill;

namespace test_all_types {

// No typed function of this file is called for any of these types: what runs comes from rill::kernels.
constexpr dtype rare[] = {dtype::half,   dtype::bfloat16, dtype::int8,   dtype::int16,     dtype::uint8,
                          dtype::uint16, dtype::uint32,   dtype::uint64, dtype::complex64, dtype::complex128};
bool is_floating(dtype d) { return d == dtype::half || d == dtype::bfloat16; }
bool is_complex_type(dtype d) { return d == dtype::complex64 || d == dtype::complex128; }

any_array numbers(dtype type, const dims& shape, const std::vector<double>& values) {
    any_array all(type, shape);
    for (std::size_t i = 0; i < values.size(); ++i) {
        const scalar_value one = detail::scalar_of(type, values[i]);
        std::memcpy(static_cast<std::byte*>(all.mutable_data()) + i * size_of(type), one.bytes.data(), size_of(type));
    }
    return all;
}
bool same(const any_array& a, const any_array& b) {
    return a.type() == b.type() &&
           std::memcmp(a.data(), b.data(), static_cast<std::size_t>(a.size()) * size_of(a.dtype())) == 0;
}
any_array run(const any_tensor& y, const any_tensor& x, const any_array& value) {
    const session s({.inter_op_threads = 0, .intra_op_threads = 0});
    return s.run(y, feed(x, value));
}

} // namespace test_all_types

using namespace test_all_types;

TEST_CASE("all_types: any_tensors of every type run, alone, fused and reduced") {
    for (const dtype d : rare) {
        INFO(to_string(d));
        const graph_scope here{graph()};
        const any_tensor x = any_placeholder("x", d, {2, 3});
        const any_array value = numbers(d, {2, 3}, {1, 2, 3, 4, 5, 6});
        const auto is = [&](const any_tensor& y, const dims& shape, const std::vector<double>& expected) {
            CHECK(same(run(y, x, value), numbers(d, shape, expected)));
        };
        is(any_tensor(x + x), {2, 3}, {2, 4, 6, 8, 10, 12});
        is(any_tensor(x * x - x), {2, 3}, {0, 2, 6, 12, 20, 30});
        is(any_tensor(square(x)), {2, 3}, {1, 4, 9, 16, 25, 36});
        is(reduce_sum(x, {1}), {2}, {6, 15});
        is(reduce_prod(x, {0}), {3}, {4, 10, 18});
        is(cumsum(x, 1), {2, 3}, {1, 3, 6, 4, 9, 15});
        is(transpose(x), {3, 2}, {1, 4, 2, 5, 3, 6});
        is(matmul(x, transpose(x)), {2, 2}, {14, 32, 32, 77});
        if (is_complex_type(d)) continue;
        is(reduce_max(x, {0}), {3}, {4, 5, 6});
        is(reduce_min(x, {1}), {2}, {1, 4});
        is(any_tensor(maximum(x, x)), {2, 3}, {1, 2, 3, 4, 5, 6});
        CHECK(run(any_tensor(greater(x, x)), x, value).dtype() == dtype::boolean);
    }
}

TEST_CASE("all_types: gradients of floating and complex any_tensors") {
    for (const dtype d : rare) {
        if (!is_floating(d) && !is_complex_type(d)) continue;
        INFO(to_string(d));
        const graph_scope here{graph()};
        const any_tensor x = any_placeholder("x", d, {3});
        const auto dx = gradients({any_tensor(x * x * x)}, {x});
        CHECK(same(run(dx[0], x, numbers(d, {3}, {1, 2, 3})), numbers(d, {3}, {3, 12, 27})));
    }
}

TEST_CASE("all_types: graphs of every type, read by a program that has no typed function for them") {
    for (const dtype d : rare) {
        INFO(to_string(d));
        std::string bytes, name;
        {
            const graph_scope here{graph()};
            const any_tensor x = any_placeholder("x", d, {3});
            name = (x * x + x).name();
            bytes = graph_to_bytes(current_graph());
        }
        const graph read = graph_from_bytes(bytes);
        const session s(read);
        CHECK(same(s.run(fetch(name), feed("x:0", numbers(d, {3}, {1, 2, 3}))), numbers(d, {3}, {2, 6, 12})));
    }
}

TEST_CASE("all_types: conversions between any two types, and graphs that are read with them") {
    std::vector<dtype> all{dtype::float32, dtype::float64, dtype::int32, dtype::int64, dtype::boolean};
    all.insert(all.end(), std::begin(rare), std::end(rare));
    for (const dtype from : all)
        for (const dtype to : all) {
            if (from == to) continue;
            INFO(to_string(from) << " to " << to_string(to));
            std::string bytes, name;
            {
                const graph_scope here{graph()};
                detail::untyped_arguments x{{any_placeholder("x", from, {2}).end()}, {}, {0}};
                const op_entry* const cast = find_op("Cast", to);
                REQUIRE(cast);
                name = any_tensor(detail::apply_untyped(*cast->elementwise, to, std::move(x), current_graph())).name();
                bytes = graph_to_bytes(current_graph());
            }
            const graph read = graph_from_bytes(bytes);
            const session s(read);
            CHECK(same(s.run(fetch(name), feed("x:0", numbers(from, {2}, {0, 1}))), numbers(to, {2}, {0, 1})));
        }
}

TEST_CASE("all_types: what no type of numbers has is said") {
    const graph_scope here{graph()};
    const any_tensor z = any_placeholder("z", dtype::complex64, {3});
    const any_array value = numbers(dtype::complex64, {3}, {1, 2, 3});
    CHECK_THROWS_AS(run(reduce_max(z, {0}), z, value), error);
}

TEST_CASE("all_types: windows, largest elements, moves, indices and segments, as those of floats") {
    using make = std::function<any_tensor(const any_tensor&)>;
    // whole numbers that every type holds
    const auto values_of = [](const dims& shape) {
        std::vector<double> all;
        for (index_t i = 0; i < shape.size(); ++i) all.push_back(static_cast<double>((i * 7 + 3) % 11));
        return all;
    };
    const auto computed = [&](const make& f, dtype d, const dims& shape) {
        const graph_scope here{graph()};
        const any_tensor x = any_placeholder("x", d, shape);
        return run(f(x), x, numbers(d, shape, values_of(shape)));
    };
    const auto check = [&](const char* what, dtype d, const dims& shape, const make& f) {
        INFO(what << " of " << to_string(d));
        const any_array wanted = computed(f, dtype::float32, shape), got = computed(f, d, shape);
        const std::vector<double> reals(wanted.elements<float>().begin(), wanted.elements<float>().end());
        CHECK(same(got, numbers(d, wanted.shape(), reals)));
    };
    const dims images{2, 5, 4, 3}, rows{4, 3};
    const auto ids = [] { return constant({2, 0, 2, 1}); };
    for (const dtype d : rare) {
        check("roll", d, rows, [](const auto& x) { return any_tensor(roll(x, 2, 0)); });
        check("gather_nd", d, rows,
              [](const auto& x) { return any_tensor(gather_nd(x, constant({{3, 0}, {0, 2}, {1, 1}}))); });
        check("unsorted_segment_sum", d, rows,
              [&](const auto& x) { return any_tensor(unsorted_segment_sum(x, ids(), 4)); });
        check("segment_sum", d, rows, [](const auto& x) { return any_tensor(segment_sum(x, constant({0, 0, 1, 2}))); });
        if (is_complex_type(d)) continue;
        check("max_pool", d, images, [](const auto& x) {
            return max_pool(x, window{.size = {2, 2}, .strides = {2, 1}, .padding = padding::same});
        });
        check("extract_image_patches", d, images,
              [](const auto& x) { return any_tensor(extract_image_patches<window{.size = {2, 3}}>(x)); });
        check("top_k", d, rows, [](const auto& x) { return std::get<0>(top_k(x, 2)); });
        check("segment_max", d, rows, [](const auto& x) { return any_tensor(segment_max(x, constant({0, 0, 1, 2}))); });
        check("segment_min", d, rows, [](const auto& x) { return any_tensor(segment_min(x, constant({0, 0, 1, 2}))); });
        const graph_scope here{graph()};
        const any_tensor x = any_placeholder("x", d, rows);
        const any_array where = run(std::get<1>(top_k(x, 2)), x, numbers(d, rows, values_of(rows)));
        CHECK(std::ranges::equal(where.elements<int>(), std::vector<int>{1, 2, 1, 2, 1, 2, 1, 2}));
        if (!is_floating(d)) continue;
        check("avg_pool", d, images, [](const auto& y) { return avg_pool(y, window{.size = {2, 2}}); });
        check("conv2d", d, images,
              [](const auto& y) { return conv2d(y, ones(y.dtype(), dims{2, 2, 3, 2}), window{.strides = {2, 1}}); });
        check("depthwise_conv2d", d, images,
              [](const auto& y) { return depthwise_conv2d(y, ones(y.dtype(), dims{2, 2, 3, 1}), window{}); });
    }
}
