// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstdint>

#include <rill/device/cpu/primitives/windows.hpp>
#include <rill/device/quantization.hpp>

namespace rill { inline namespace RILL_ABI { inline namespace RILL_ISA {

/// Computes y = f(x, numbers) for each element; `numbers` are read once.
template <class F, class X, class Y, std::size_t N>
void transform_numbers(index_t n, const F& f, const X* x, const std::array<const float*, N>& numbers, Y* y,
                       thread_pool* pool) {
    std::array<float, N> all;
    for (std::size_t i = 0; i < N; ++i) all[i] = *numbers[i];
    detail::share_windows(n, 4, pool, [&](index_t from, index_t end) {
        for (index_t i = from; i < end; ++i) f.run(x[i], all, y[i]);
    });
}

/// Convolves quantised images with a quantised filter. `wide` has room for the filter widened to integers. Sums wrap
/// around.
template <class Q>
void convolve_quantized(const convolution_shape& s, const Q* x, const Q* f, const quantized_range& of_x,
                        const quantized_range& of_f, qint32* y, std::int32_t* wide, thread_pool* pool) {
    const index_t count = s.window.positions() * s.in * s.out;
    const auto x0 = static_cast<std::uint32_t>(of_x.template zero_point<Q>()),
               f0 = static_cast<std::uint32_t>(of_f.template zero_point<Q>());
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
