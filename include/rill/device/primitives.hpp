// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <array>
#include <concepts>
#include <cstdint>
#include <limits>
#include <string_view>
#include <type_traits>

#include <rill/core/program.hpp>
#include <rill/core/window.hpp>
#include <rill/device/execution_context.hpp>
#include <rill/device/kernel.hpp>
#include <rill/device/matrix_task.hpp>
#include <rill/device/numbers.hpp>
#include <rill/device/philox.hpp>
#include <rill/device/quantization.hpp>
#include <rill/device/strided_layout.hpp>
#include <rill/device/structure.hpp>

namespace rill { inline namespace RILL_ABI {

/// A predicate that accepts an index in [0, extent).
template <class I> struct index_inside {
    using bits = std::make_unsigned_t<I>;
    bits end; // the extent, or one more than the largest index

    RILL_FN explicit index_inside(index_t extent) : end(static_cast<bits>(extent < most ? extent : most)) {
        if (extent > most) ++end;
    }
    RILL_FN bool operator()(I id) const { return static_cast<bits>(id) < end; } // a negative id becomes large

private:
    static constexpr auto most = static_cast<index_t>(std::numeric_limits<I>::max());
};

/// A predicate that accepts an index below an extent. Negative ids are allowed: segment ops skip their slices.
template <class I> struct index_below {
    I last; // the largest id that is accepted

    RILL_FN explicit index_below(index_t extent) : last(static_cast<I>(extent - 1 < most ? extent - 1 : most)) {}
    RILL_FN bool operator()(I id) const { return id <= last; }

private:
    static constexpr auto most = static_cast<index_t>(std::numeric_limits<I>::max());
};

/// A predicate that accepts a number that is neither infinite nor NaN.
struct finite_number {
    template <class T> RILL_FN bool operator()(const T& v) const {
        const auto wide = static_cast<compute_type<T>>(v);
        return wide - wide == compute_type<T>(0);
    }
};

/// Per-row inputs and outputs of a matrix: one value for each row; null if absent.
template <class T, class I = std::int32_t> struct row_numbers {
    const I* read = nullptr;
    T* written = nullptr;

    RILL_FN row_numbers from(index_t row) const {
        return {read ? read + row : nullptr, written ? written + row : nullptr};
    }
};

/// The number of elements from which an update uses the pool; below it, threads cost more than they save.
inline constexpr index_t update_shared_from = 1 << 16;

/// The number of elements in all windows from which the primitives over windows use the pool.
inline constexpr index_t window_shared_from = 1 << 18;

/// Returns true if primitives over these windows use a pool. `channels` counts the elements per window position.
inline bool windows_are_shared(const window_shape& w, index_t channels) {
    return w.batch * w.windows() * w.positions() * channels >= window_shared_from;
}

/// The `Count` constants, in device memory, that an update reads beside its arrays.
template <class T, std::size_t Count> struct update_constants {
    const T* at = nullptr;
};
template <class T> using no_constants = update_constants<T, 0>;

/// The way in which an update treats slices with equal ids: one after the other, or their sum as one slice.
enum class equal_ids : std::uint8_t { in_turn, added };

namespace detail {

// Functions that a device compiles are named function objects: a GPU cannot take a host lambda as a kernel.

struct empty_row {
    template <class... A> RILL_FN void operator()(const A&...) const {}
};
struct no_update {
    template <class... V> RILL_FN static void run(const V&...) {}
};
struct same_scalars {
    template <std::size_t N> RILL_FN std::array<double, N> operator()(const std::array<double, N>& all) const {
        return all;
    }
};

} // namespace detail

/// The requirements on a device: the primitives that ops are written on. Each device implements each primitive once; each op is
/// written once over them.
///
/// Pointers refer to device memory, which the host may not be able to read. Numbers that are known when a kernel is bound are passed
/// by value; numbers of a run are passed by address, and the device reads them. Nothing is returned to the host: `check` reports bad
/// data to the context's error record. After a failure, the primitives of that step and of later steps write nothing. They never follow
/// an id that `check` has refused. Without a record, `check` throws at once.
///
/// The context's scratch memory holds what the functions `…_scratch` return for the same shapes; they take the context of binding.
template <class D>
concept device_primitives =
    requires(const execution_context& on, const float* x, float* y, const std::int32_t* ids, std::int32_t* to,
             std::int64_t* classes, void* memory, index_t n, const detail::strided_layout& layout,
             const random_stream* stream, const error_site& where, const fused_spec& spec, const fusion_group& group,
             kernel_request& request, const window_shape& w, const convolution_shape& s, convolution_part part,
             const matrix_task& matrices, const quint8* bytes, qint32* sums) {
        { D::type } -> std::convertible_to<std::string_view>;
        D::template compile_expression<leaf<float>>();
        D::template compile_one_op<leaf<float>>();
        D::template compile_reducer<combine::sum, float>();
        { D::fused(spec, request) } -> std::same_as<kernel>;
        { D::fused(group, request) } -> std::same_as<kernel>;

        D::gemm(on, false, false, n, n, n, x, x, y);
        D::gemm(on, false, false, n, n, n, x, x, y, {x, true}); // product_epilogue
        { D::template gemm_scratch<float>(on, false, false, n, n, n) } -> std::same_as<std::size_t>;
        { D::template gemm_is_shared<float>(on, false, false, n, n, n) } -> std::same_as<bool>;

        // arrays of several addresses are named here: nvcc misspells their type everywhere if it is first deduced
        D::template matrices<matrix_function::solve>(on, matrices, std::array<const float*, 2>{x, x},
                                                     std::array<float*, 3>{y, y, y}, where);
        { D::template matrix_scratch<matrix_function::svd, float>(on, matrices) } -> std::same_as<std::size_t>;
        { D::matrices_are_shared(on, matrices) } -> std::same_as<bool>;

        D::transform(on, n, detail::to_real{}, bytes, std::array<const float*, 2>{x, x}, y);
        D::quantized_convolve(on, s, bytes, bytes, std::array<const float*, 4>{x, x, x, x},
                              sums); // image, filter, ends of ranges
        { D::quantized_scratch(s) } -> std::same_as<std::size_t>;

        D::convolve(on, s, x, x, y, {x, true}); // image, filter, result, product_epilogue
        D::convolve_input(on, s, x, x, y);      // filter, gradient of the result, gradient by the image
        D::convolve_filter(on, s, x, x, y);     // image, gradient of the result, gradient by the filter
        { D::template convolution_scratch<float>(on, part, s) } -> std::same_as<std::size_t>;
        { D::template convolution_is_shared<float>(on, part, s) } -> std::same_as<bool>;
        D::depthwise_convolve(on, s, x, x, y);
        D::depthwise_convolve_input(on, s, x, x, y);
        D::depthwise_convolve_filter(on, s, x, x, y);
        { D::template depthwise_scratch<float>(s) } -> std::same_as<std::size_t>;
        D::max_pool(on, w, n, x, y);
        D::max_pool_gradient(on, w, n, x, x, x, y); // image, result, gradient of the result, gradient by the image
        D::max_pool_gather(on, w, n, x, x, x, y);   // image, result, an array like the image, its elements
        D::average_pool(on, w, n, x, y);
        D::average_pool_gradient(on, w, n, x, y);
        D::image_patches(on, w, n, x, y);
        D::image_patches_gradient(on, w, n, x, y);

        D::copy(on, x, y, layout);
        D::add(on, x, y, layout);
        D::copy(on, dtype::float32, static_cast<const void*>(x), memory, n);
        D::fill(on, n, y, 0.f);
        { D::check(on, ids, n, index_inside<std::int32_t>(n), where) } -> std::same_as<void>;
        { D::check(on, x, n, finite_number{}, where) } -> std::same_as<void>;
        { D::known_finite(x, n) } -> std::same_as<bool>;
        D::gather(on, x, ids, y, n, n, n, n);
        D::scatter_add(on, x, ids, y, n, n, n, n);
        D::flat_indices(on, ids, classes, n, dims{}, where);
        D::gather_rows(on, x, ids, y, n, dims{}, n, where); // table, rows of indices, result, count, extents, inner
        { D::gather_rows_scratch(n) } -> std::same_as<std::size_t>;
        D::template combine_segments<combine::sum>(on, x, ids, y, n, n, n, 0.f, where);
        { D::template combine_segments_scratch<combine::max>(n) } -> std::same_as<std::size_t>;
        D::gather_segments(on, x, ids, y, n, n);
        D::one_hot(on, ids, y, n, n, n, 1.f, 0.f);
        D::template arg_extreme<true>(on, x, to, n, n, n);
        D::top_k(on, x, y, to, n, n, n); // rows, columns, k
        { D::top_k_scratch(n) } -> std::same_as<std::size_t>;
        D::template scan<combine::sum>(on, x, y, n, n, n, false, false);
        D::linear_recurrence(on, x, x, y, n, n, n, false);
        { D::template row_scratch<float>(n, 1) } -> std::same_as<std::size_t>;
        D::rows(on, n, n, std::array{x}, std::array{y}, row_numbers<float>{}, detail::empty_row{});
        D::compute_scalars(on, detail::same_scalars{}, std::array{x}, y);
        D::template update<detail::no_update>(on, n, std::array{x}, std::array{y}, std::array{x},
                                              update_constants<float, 1>{x});
        D::template update_rows<detail::no_update>(on, ids, n, n, std::array{y}, std::array{x},
                                                   update_constants<float, 1>{x}, equal_ids::added);
        { D::template update_rows_scratch<float>(n, n, 1) } -> std::same_as<std::size_t>;
        D::random_uniform(on, n, stream, 0., 1., y);
        D::random_normal(on, n, stream, 0., 1., y);
        D::truncated_normal(on, n, stream, 0., 1., y);
        D::random_gamma(on, n, stream, 1., 1., y);
        D::random_poisson(on, n, stream, 1., y);
        D::multinomial(on, x, n, n, n, stream, classes, where);
        { D::multinomial_scratch(n) } -> std::same_as<std::size_t>;
        D::shuffle(on, dtype::float32, static_cast<const void*>(x), memory, n, n, stream);
        { D::shuffle_scratch(n) } -> std::same_as<std::size_t>;
    };

}} // namespace rill::RILL_ABI
