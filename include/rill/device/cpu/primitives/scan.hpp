// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>

#include <rill/core/program.hpp>
#include <rill/device/lane.hpp>

namespace rill { inline namespace RILL_ABI {

namespace detail { inline namespace RILL_ISA {

/// Calls step(state, index, is_first) for each element along `extent`, in order. Each inner index has its own state; up to 256
/// neighbours advance together.
template <class State, class F>
void walk_along(index_t outer, index_t extent, index_t inner, bool reverse, const State& start, const F& step) {
    constexpr index_t most = 256; // inner indices that advance together
    State state[most];
    for (index_t o = 0; o < outer; ++o)
        for (index_t left = 0; left < inner; left += most) {
            const index_t width = std::min(most, inner - left);
            std::fill_n(state, width, start);
            for (index_t e = 0; e < extent; ++e) {
                const index_t at = (o * extent + (reverse ? extent - 1 - e : e)) * inner + left;
                for (index_t i = 0; i < width; ++i) step(state[i], at + i, e == 0);
            }
        }
}

}} // namespace detail::RILL_ISA

inline namespace RILL_ISA {

/// Writes running sums (or products): to[o, e, i] combines x[o, 0 … e, i], without element e if `exclusive`.
/// `reverse` runs from the end. Narrow floating types accumulate in float; integers wrap.
template <combine How, class T>
void running_values(const T* x, T* to, index_t outer, index_t extent, index_t inner, bool exclusive, bool reverse) {
    static_assert(How == combine::sum || How == combine::prod);
    using C = compute_type<T>;
    constexpr auto joined = [](const C& a, const T& b) {
        const lane<C> left(a), right(static_cast<C>(b));
        if constexpr (How == combine::sum)
            return (left + right).v;
        else
            return (left * right).v;
    };
    constexpr auto first = static_cast<C>(How == combine::prod ? 1 : 0);
    detail::walk_along(outer, extent, inner, reverse, first, [&](C& so_far, index_t at, bool) {
        const C next = joined(so_far, x[at]);
        to[at] = static_cast<T>(exclusive ? so_far : next);
        so_far = next;
    });
}

/// Computes a linear recurrence: to[o, 0, i] = 0; to[o, e + 1, i] = factors[o, e, i] to[o, e, i] + terms[o, e, i]. A factor of 0
/// resets the value, even an infinite one. `reverse` runs from the end. Narrow floating types compute in float.
template <class T>
void linear_recurrence(const T* factors, const T* terms, T* to, index_t outer, index_t extent, index_t inner,
                       bool reverse) {
    using C = compute_type<T>;
    detail::walk_along(outer, extent, inner, reverse, C(0), [&](C& so_far, index_t at, bool first) {
        to[at] = static_cast<T>(so_far);
        const lane<C> factor(static_cast<C>(factors[at])), term(static_cast<C>(terms[at]));
        // the first factor times 0 could be NaN, and so could a factor of 0 times what came before
        so_far = first || factor.v == C(0) ? term.v : (factor * lane<C>(so_far) + term).v;
    });
}

} // namespace RILL_ISA

}} // namespace rill::RILL_ABI
