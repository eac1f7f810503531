// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>

#include <rill/core/dims.hpp>
#include <rill/device/cpu/pack.hpp>

namespace rill::inline RILL_ABI {

namespace detail::inline RILL_ISA {

template <class V, class T, std::size_t N> RILL_FN std::array<V, N> load_all(const std::array<T*, N>& from, index_t i, int count, int lanes) {
    std::array<V, N> out{};
    for (std::size_t k = 0; k < N; ++k) out[k] = count == lanes ? V::load(from[k] + i) : V::load_partial(from[k] + i, count);
    return out;
}

} // namespace detail

inline namespace RILL_ISA {

/// One pass that changes several arrays in place, given others and some numbers: an optimizer's update. F::run is generic
/// over value types.
template <class F, class T, std::size_t S, std::size_t I, std::size_t C>
void update_arrays(index_t n, const std::array<T*, S>& state, const std::array<const T*, I>& in, const std::array<T, C>& constants) {
    constexpr int lanes = lanes_for<T>;
    using V = pack<T, lanes>;
    std::array<V, C> c{};
    for (std::size_t k = 0; k < C; ++k) c[k] = V(constants[k]);
    const auto step = [&](index_t i, int count) {
        auto s = detail::load_all<V>(state, i, count, lanes);
        F::run(s, detail::load_all<V>(in, i, count, lanes), c);
        for (std::size_t k = 0; k < S; ++k) {
            if (count == lanes) s[k].store(state[k] + i);
            else s[k].store_partial(state[k] + i, count);
        }
    };
    index_t i = 0;
    for (; i + lanes <= n; i += lanes) step(i, lanes);
    if (i < n) step(i, static_cast<int>(n - i));
}

} // namespace RILL_ISA

} // namespace rill::inline RILL_ABI
