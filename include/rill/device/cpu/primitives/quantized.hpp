// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include <rill/device/cpu/gemm/byte_product.hpp>
#include <rill/device/cpu/primitives/convolution.hpp>
#include <rill/device/quantization.hpp>

namespace rill { inline namespace RILL_ABI { inline namespace RILL_ISA {

/// Computes y = f(x, numbers) for each element. `numbers` are read once, and f prepares what depends on them alone.
template <class F, class X, class Y, std::size_t N>
void transform_numbers(index_t n, const F& f, const X* x, const std::array<const float*, N>& numbers, Y* y,
                       thread_pool* pool) {
    std::array<float, N> all;
    for (std::size_t i = 0; i < N; ++i) all[i] = *numbers[i];
    detail::share_windows(n, 4, pool, [&](index_t from, index_t end) {
        f.template prepare<X, Y>(all, [&](const auto& prepared) {
            const auto each = prepared; // a copy: stores of bytes could change another for all the compiler knows
            for (index_t i = from; i < end; ++i) {
                const Y made = each(x[i]);
                if constexpr (std::is_arithmetic_v<Y>)
                    y[i] = made;
                else
                    y[i].value = made.value; // g++ 12 vectorises stores of numbers, but not of structs
            }
        });
    });
}

/// Returns the bytes of scratch memory of convolve_quantized.
inline std::size_t quantized_scratch_bytes(const convolution_shape& s) {
    const index_t factors = s.window.positions() * s.in * s.out;
    std::size_t bytes = static_cast<std::size_t>(std::max<index_t>(factors, 1)) * sizeof(std::int32_t);
    if (detail::is_plain_product(s.window))
        bytes = std::max(bytes, detail::byte_product_bytes(s.window.batch * s.window.windows(), s.out, s.in));
    return bytes;
}

/// Convolves quantised images with a quantised filter. Sums wrap around.
template <class Q>
void convolve_quantized(const convolution_shape& s, const Q* x, const Q* f, const quantized_range& of_x,
                        const quantized_range& of_f, qint32* y, void* scratch, thread_pool* pool) {
    const index_t count = s.window.positions() * s.in * s.out;
    const auto x0 = static_cast<std::uint32_t>(of_x.template zero_point<Q>()),
               f0 = static_cast<std::uint32_t>(of_f.template zero_point<Q>());
    if constexpr (detail::has_byte_tiles)
        if (detail::is_plain_product(s.window))
            return detail::multiply_bytes(s.window.batch * s.window.windows(), s.out, s.in, x, f, x0, f0, y, scratch,
                                          pool);
    auto* const wide = static_cast<std::int32_t*>(scratch); // the filter
    for (index_t i = 0; i < count; ++i)
        wide[i] = static_cast<std::int32_t>(static_cast<std::uint32_t>(f[i].value) - f0);
    detail::share_windows(detail::window_rows(s.window), detail::work_of_row(s.window, s.in * s.out), pool,
                          [&](index_t from, index_t end) {
                              detail::each_window(
                                  s.window, from, end, [&](index_t at, const detail::placed_window& window) {
                                      detail::each_chunk(s.out, [&](index_t out, auto chunk) {
                                          std::uint32_t sums[detail::channel_chunk] = {};
                                          window.each([&](index_t pixel, index_t position) { // a padded 0 adds nothing
                                              const Q* const numbers = x + pixel * s.in;
                                              const std::int32_t* factors = wide + position * s.in * s.out + out;
                                              for (index_t c = 0; c < s.in; ++c, factors += s.out) {
                                                  const auto v = static_cast<std::uint32_t>(numbers[c].value) - x0;
                                                  for (int i = 0; i < chunk; ++i)
                                                      sums[i] += v * static_cast<std::uint32_t>(factors[i]);
                                              }
                                          });
                                          for (int i = 0; i < chunk; ++i)
                                              y[at * s.out + out + i].value = static_cast<std::int32_t>(sums[i]);
                                      });
                                  });
                          });
}

}}} // namespace rill::RILL_ABI::RILL_ISA
