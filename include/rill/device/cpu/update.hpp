// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <array>

#include <rill/core/dims.hpp>
#include <rill/core/thread_pool.hpp>
#include <rill/device/cpu/pack.hpp>
#include <rill/device/primitives.hpp>

namespace rill { inline namespace RILL_ABI {

namespace detail { inline namespace RILL_ISA {

template <class V, class T, std::size_t N>
RILL_FN std::array<V, N> load_all(const std::array<T*, N>& from, index_t i, int count, int lanes) {
    std::array<V, N> out{};
    for (std::size_t k = 0; k < N; ++k)
        out[k] = count == lanes ? V::load(from[k] + i) : V::load_partial(from[k] + i, count);
    return out;
}

}} // namespace detail::RILL_ISA

inline namespace RILL_ISA {

/// One pass that changes several arrays in place, given others and some numbers: an optimizer's update. F::run is generic
/// over value types. The pool, if there is one, takes parts of long arrays.
template <class F, class T, std::size_t S, std::size_t I, std::size_t C>
void update_arrays(index_t n, const std::array<T*, S>& state, const std::array<const T*, I>& in,
                   const std::array<T, C>& constants, thread_pool* pool = nullptr) {
    constexpr int lanes = lanes_for<T>;
    using V = pack<T, lanes>;
    std::array<V, C> c{};
    for (std::size_t k = 0; k < C; ++k) c[k] = V(constants[k]);
    const auto step = [&](index_t i, int count) {
        auto s = detail::load_all<V>(state, i, count, lanes);
        F::run(s, detail::load_all<V>(in, i, count, lanes), c);
        for (std::size_t k = 0; k < S; ++k) {
            if (count == lanes)
                s[k].store(state[k] + i);
            else
                s[k].store_partial(state[k] + i, count);
        }
    };
    const auto run = [&](index_t i, index_t end) {
        for (; i + lanes <= end; i += lanes) step(i, lanes);
        if (i < end) step(i, static_cast<int>(end - i));
    };
    constexpr index_t part = 1 << 14;
    if (!pool || n < update_shared_from) return run(0, n);
    const auto parts = static_cast<int>((n + part - 1) / part);
    pool->run(parts, [&](int p) { run(p * part, std::min(n, (p + 1) * part)); });
}

} // namespace RILL_ISA

}} // namespace rill::RILL_ABI
