// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>

#include <rill/core/dims.hpp>
#include <rill/core/thread_pool.hpp>
#include <rill/device/cpu/primitives/row_chains.hpp>
#include <rill/device/cpu/simd/pack.hpp>
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

/// Applies F::run to the elements i … end - 1, `Lanes` at a time.
template <class F, int Lanes, class T, std::size_t S, std::size_t I, std::size_t C>
void update_range(index_t i, index_t end, const std::array<const T*, S>& was, const std::array<T*, S>& state,
                  const std::array<const T*, I>& in, const update_constants<T, C>& constants) {
    using V = pack<T, Lanes>;
    std::array<V, C> c{};
    for (std::size_t k = 0; k < C; ++k) c[k] = V(constants.at[k]);
    const auto step = [&](int count) {
        auto s = load_all<V>(was, i, count, Lanes);
        F::run(s, load_all<V>(in, i, count, Lanes), c);
        for (std::size_t k = 0; k < S; ++k) {
            if (count == Lanes)
                s[k].store(state[k] + i);
            else
                s[k].store_partial(state[k] + i, count);
        }
    };
    for (; i + Lanes <= end; i += Lanes) step(Lanes);
    if (i < end) step(static_cast<int>(end - i));
}

struct add_to {
    template <class V>
    RILL_FN static void run(std::array<V, 1>& sum, const std::array<V, 1>& x, const std::array<V, 0>&) {
        sum[0] = sum[0] + x[0];
    }
};

}} // namespace detail::RILL_ISA

inline namespace RILL_ISA {

/// Updates several arrays in one pass, from their old values in `was`, other arrays and constants: an optimizer's update. A new array
/// lies in the place of its old one, or does not overlap it. F::run is generic over value types. The pool, if given, shares the work
/// on long arrays.
template <class F, class T, std::size_t S, std::size_t I, std::size_t C>
void update_arrays(index_t n, const std::array<const T*, S>& was, const std::array<T*, S>& state,
                   const std::array<const T*, I>& in, const update_constants<T, C>& constants,
                   thread_pool* pool = nullptr) {
    const auto run = [&](index_t i, index_t end) {
        detail::update_range<F, lanes_for<T>>(i, end, was, state, in, constants);
    };
    // A single element goes by scalars: a partial vector load after a scalar store would stall (failed store forwarding).
    if (n == 1) return detail::update_range<F, 1>(0, 1, was, state, in, constants);
    constexpr index_t part = 1 << 14;
    if (!pool || n < update_shared_from) return run(0, n);
    const auto parts = static_cast<int>((n + part - 1) / part);
    pool->run(parts, [&](int p) { run(p * part, std::min(n, (p + 1) * part)); });
}

/// Returns the bytes of scratch memory with which update_array_rows adds up the inputs of equal ids.
template <class T> std::size_t update_rows_scratch_bytes(index_t count, index_t inner, int inputs) {
    return detail::row_chains::bytes(count) + static_cast<std::size_t>(inner * inputs) * sizeof(T);
}

/// Updates slices: slice ids[k] of each state, with slice k of the inputs. With scratch memory, it first adds the inputs of equal ids,
/// and updates once per id. Without it, each slice is a separate update, in order.
template <class F, class T, class I, std::size_t S, std::size_t N, std::size_t C>
void update_array_rows(const I* ids, index_t count, index_t inner, const std::array<T*, S>& state,
                       const std::array<const T*, N>& in, const update_constants<T, C>& constants,
                       void* scratch = nullptr) {
    const auto step = [&](index_t k, const std::array<const T*, N>& from) {
        auto at = state;
        std::array<const T*, S> was;
        for (std::size_t s = 0; s < S; ++s) was[s] = at[s] += static_cast<index_t>(ids[k]) * inner;
        update_arrays<F>(inner, was, at, from, constants);
    };
    const auto slices = [&](index_t k) {
        auto at = in;
        for (auto& from : at) from += k * inner;
        return at;
    };
    if (!scratch) {
        for (index_t k = 0; k < count; ++k) step(k, slices(k));
        return;
    }
    if constexpr (is_numeric<T>) { // types without addition never get scratch memory
        const detail::row_chains rows(ids, count, scratch);
        T* const room = reinterpret_cast<T*>(static_cast<std::byte*>(scratch) + detail::row_chains::bytes(count));
        for (index_t k = 0; k < count; ++k) {
            if (!rows.is_first(k)) continue;
            auto from = slices(k);
            if (rows.next(k) >= 0) {
                for (std::size_t n = 0; n < N; ++n) {
                    T* const sum = room + static_cast<index_t>(n) * inner;
                    std::copy_n(from[n], inner, sum);
                    for (index_t other = rows.next(k); other >= 0; other = rows.next(other))
                        update_arrays<detail::add_to>(inner, std::array<const T*, 1>{sum}, std::array{sum},
                                                      std::array{slices(other)[n]}, no_constants<T>{});
                    from[n] = sum;
                }
            }
            step(k, from);
        }
    }
}

} // namespace RILL_ISA

}} // namespace rill::RILL_ABI
