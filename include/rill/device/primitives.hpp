// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <concepts>
#include <cstdint>
#include <string_view>

#include <rill/core/program.hpp>
#include <rill/device/kernel.hpp>
#include <rill/device/philox.hpp>
#include <rill/device/strided_layout.hpp>
#include <rill/device/structure.hpp>

namespace rill { inline namespace RILL_ABI {

/// An out-of-range index: its position and value. first_not_finite reports 1 as the value of a NaN, 0 of an infinity.
struct outside_index {
    index_t at = -1; // -1: none found
    std::int64_t value = 0;
};

/// Per-row inputs and outputs of a matrix: one value for each row; null if absent.
template <class T, class I = std::int32_t> struct row_numbers {
    const I* read = nullptr;
    T* written = nullptr;

    row_numbers from(index_t row) const { return {read ? read + row : nullptr, written ? written + row : nullptr}; }
};

/// The number of elements from which an update uses the pool; below it, threads cost more than they save.
inline constexpr index_t update_shared_from = 1 << 16;

namespace detail {

struct no_update {
    template <class... V> RILL_FN static void run(const V&...) {}
};

} // namespace detail

/// The requirements on a device: the primitives that ops are written on. Pointers refer to device memory, which the host may not
/// be able to read; scalars are passed by value. Each device implements each primitive once; each op is written once over them.
template <class D>
concept device_primitives =
    requires(const float* x, float* y, const std::int32_t* ids, std::int32_t* to, std::int64_t* classes, void* scratch,
             thread_pool* pool, index_t n, const detail::strided_layout& layout, const random_stream& stream,
             const fused_spec& spec, const fusion_group& chain, kernel_request& request) {
        { D::type } -> std::convertible_to<std::string_view>;
        D::template compile_expression<leaf<float>>();
        D::template compile_one_op<leaf<float>>();
        D::template compile_reducer<combine::sum, float>();
        { D::fused(spec, request) } -> std::same_as<kernel>;
        { D::fused(chain, request) } -> std::same_as<kernel>;

        D::gemm(false, false, n, n, n, x, x, y, scratch, pool);
        D::gemm(false, false, n, n, n, x, x, y, scratch, pool, {x, true}); // product_epilogue
        { D::template gemm_scratch<float>(false, false, n, n, n, pool) } -> std::same_as<std::size_t>;
        { D::gemm_microseconds(n, n, n) } -> std::same_as<double>;
        { D::template gemm_is_shared<float>(false, false, n, n, n, pool) } -> std::same_as<bool>;

        D::copy(x, y, layout);
        D::add(x, y, layout);
        D::copy(dtype::float32, static_cast<const void*>(x), scratch, n);
        D::fill(n, y, 0.f);
        { D::first_outside(ids, n, n) } -> std::same_as<outside_index>;
        { D::first_not_finite(x, n) } -> std::same_as<outside_index>;
        D::gather(x, ids, y, n, n, n, n);
        D::scatter_add(x, ids, y, n, n, n, n);
        D::one_hot(ids, y, n, n, 1.f, 0.f);
        D::template arg_extreme<true>(x, to, n, n, n);
        D::template scan<combine::sum>(x, y, n, n, n, false, false);
        D::linear_recurrence(x, x, y, n, n, n, false);
        { D::template row_scratch<float>(n, 1) } -> std::same_as<std::size_t>;
        D::rows(n, n, std::array{x}, std::array{y}, row_numbers<float>{}, scratch, [](const auto&...) {});
        D::template update<detail::no_update>(n, std::array{x}, std::array{y}, std::array{x}, std::array{1.f}, pool);
        D::template update_rows<detail::no_update>(ids, n, n, std::array{y}, std::array{x}, std::array{1.f}, scratch);
        { D::template update_rows_scratch<float>(n, n, 1) } -> std::same_as<std::size_t>;
        D::random_uniform(n, stream, 0., 1., y);
        D::random_normal(n, stream, 0., 1., y);
        D::truncated_normal(n, stream, 0., 1., y);
        D::random_gamma(n, stream, 1., 1., y);
        D::random_poisson(n, stream, 1., y);
        { D::multinomial(x, n, n, n, stream, classes, scratch) } -> std::same_as<outside_index>;
        { D::multinomial_scratch(n) } -> std::same_as<std::size_t>;
    };

}} // namespace rill::RILL_ABI
