// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/device/cpu/fusion/reducers.hpp>
#include <rill/device/primitives.hpp>

// Slices chosen by index. Arrays are seen as [outer, extent, inner]; indices count along `extent`.

namespace rill { inline namespace RILL_ABI { inline namespace RILL_ISA {

/// Gathers slices: to[o, k, :] = table[o, ids[k], :].
template <class T, class I>
void gather_slices(const T* table, const I* ids, T* to, index_t outer, index_t extent, index_t inner, index_t count) {
    for (index_t o = 0; o < outer; ++o, table += extent * inner) {
        if (inner == 1)
            to = std::transform(ids, ids + count, to, [&](I id) { return table[id]; });
        else
            for (index_t k = 0; k < count; ++k)
                to = std::copy_n(table + static_cast<index_t>(ids[k]) * inner, inner, to);
    }
}

/// Adds slices: to[o, ids[k], :] += from[o, k, :], in the order of k.
template <class T, class I>
void scatter_add_slices(const T* from, const I* ids, T* to, index_t outer, index_t extent, index_t inner,
                        index_t count) {
    for (index_t o = 0; o < outer; ++o, to += extent * inner)
        for (index_t k = 0; k < count; ++k, from += inner) {
            T* const at = to + static_cast<index_t>(ids[k]) * inner;
            if (inner == 1)
                *at = (lane<T>(*at) + lane<T>(*from)).v;
            else
                detail::combine_merge<sum_combine, T>(at, from, inner);
        }
}

/// Writes rows of `off` with one `on` at the row's id; a row whose id is outside [0, depth) gets no `on`.
template <class T, class I> void one_hot_rows(const I* ids, T* to, index_t count, index_t depth, T on, T off) {
    std::fill_n(to, count * depth, off);
    for (index_t k = 0; k < count; ++k, to += depth)
        if (ids[k] >= 0 && static_cast<index_t>(ids[k]) < depth) to[ids[k]] = on;
}

}}} // namespace rill::RILL_ABI::RILL_ISA

namespace rill { inline namespace RILL_ABI { namespace detail { inline namespace RILL_ISA {

/// Returns true if a is more extreme than b; a NaN precedes every number.
template <class Combine, class T> RILL_FN bool goes_before(const T& a, const T& b) {
    const lane<T> x(a), y(b);
    if ((y != y).v) return false;
    if ((x != x).v) return true;
    if constexpr (std::is_same_v<Combine, max_combine>)
        return (x > y).v;
    else
        return (x < y).v;
}

/// Returns the index of a row's extreme. Long rows take a reduction and a search, both vectorized.
template <class Combine, class T> index_t place_of_extreme(const T* row, index_t n) {
    constexpr index_t long_enough = 4 * lanes_for<T>;
    if (n < long_enough) {
        index_t best = 0;
        for (index_t i = 1; i < n; ++i)
            if (goes_before<Combine>(row[i], row[best])) best = i;
        return best;
    }
    T best = Combine::template identity<T>();
    combine_fold<Combine, T>(&best, row, n);
    const lane<T> b(best);
    const bool nan = (b != b).v;
    return std::find_if(row, row + n,
                        [&](const T& v) {
                            const lane<T> x(v);
                            return nan ? (x != x).v : (x == b).v;
                        }) -
           row;
}

}}}} // namespace rill::RILL_ABI::detail::RILL_ISA

namespace rill { inline namespace RILL_ABI { inline namespace RILL_ISA {

/// Writes the index of the extreme along `extent` to to[o, i]: the first of equals, or the first NaN if there is one.
template <class Combine, class T, class Out>
void arg_extreme(const T* x, Out* to, index_t outer, index_t extent, index_t inner) {
    for (index_t o = 0; o < outer; ++o, x += extent * inner, to += inner) {
        if (inner == 1) {
            *to = static_cast<Out>(detail::place_of_extreme<Combine>(x, extent));
            continue;
        }
        std::fill_n(to, inner, Out(0));
        for (index_t e = 1; e < extent; ++e)
            for (index_t i = 0; i < inner; ++i)
                if (detail::goes_before<Combine>(x[e * inner + i], x[static_cast<index_t>(to[i]) * inner + i]))
                    to[i] = static_cast<Out>(e);
    }
}

}}} // namespace rill::RILL_ABI::RILL_ISA
