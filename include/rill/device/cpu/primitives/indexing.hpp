// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <type_traits>

#include <rill/device/cpu/fusion/reducers.hpp>
#include <rill/device/cpu/primitives/first_refused.hpp>
#include <rill/device/primitives.hpp>

// Slices chosen by index. Arrays are treated as [outer, extent, inner]; indices count along `extent`.

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

/// Writes [outer, depth, inner] of `off` with one `on` along the middle axis, at the id. An id outside [0, depth) yields only `off`.
template <class T, class I>
void one_hot_rows(const I* ids, T* to, index_t outer, index_t depth, index_t inner, T on, T off) {
    std::fill_n(to, outer * depth * inner, off);
    for (index_t o = 0; o < outer; ++o, ids += inner, to += depth * inner)
        for (index_t i = 0; i < inner; ++i)
            if (ids[i] >= 0 && static_cast<index_t>(ids[i]) < depth) to[static_cast<index_t>(ids[i]) * inner + i] = on;
}

}}} // namespace rill::RILL_ABI::RILL_ISA

namespace rill { inline namespace RILL_ABI { namespace detail { inline namespace RILL_ISA {

/// Calls f with the number of indices in a row as a std::integral_constant, or with 0 for more than three.
template <class F> index_t with_depth(int depth, const F& f) {
    switch (depth) {
    case 1: return f(std::integral_constant<int, 1>{});
    case 2: return f(std::integral_constant<int, 2>{});
    case 3: return f(std::integral_constant<int, 3>{});
    default: return f(std::integral_constant<int, 0>{});
    }
}

/// The extents of axes, and the position in row-major order of a row of indices. `Depth` is the number of axes, or 0 for any.
template <int Depth> struct row_position {
    int depth;
    std::uint64_t extent[Depth > 0 ? Depth : max_rank];

    explicit row_position(const dims& shape) : depth(Depth > 0 ? Depth : shape.rank) {
        for (int j = 0; j < depth; ++j) extent[j] = static_cast<std::uint64_t>(shape[j]);
    }
    /// Sets `outside` to 1 if an index is outside its axis; then the position may overflow.
    template <class I> RILL_FN std::uint64_t operator()(const I* row, std::uint64_t& outside) const {
        std::uint64_t flat = 0;
        for (int j = 0; j < (Depth > 0 ? Depth : depth); ++j) {
            const auto id = static_cast<std::uint64_t>(row[j]); // a negative index becomes large
            outside |= static_cast<std::uint64_t>(id >= extent[j]);
            flat = flat * extent[j] + id;
        }
        return flat;
    }
};

/// Returns the position of the first index outside its axis. There must be one.
template <class I> index_t first_outside(const I* ids, const dims& shape) {
    index_t at = 0;
    while (ids[at] >= 0 && static_cast<index_t>(ids[at]) < shape[static_cast<int>(at % shape.rank)]) ++at;
    return at;
}

/// Calls f(k, position) for each row k of indices. Ends at a row with an index outside its axis, and returns the position of that index;
/// -1 if there is none.
template <class I, class F> index_t each_position(const I* ids, index_t count, const dims& shape, const F& f) {
    return with_depth(shape.rank, [&]<int Depth>(std::integral_constant<int, Depth>) -> index_t {
        const row_position<Depth> position(shape);
        for (index_t k = 0; k < count; ++k) {
            const I* const row = ids + k * (Depth > 0 ? Depth : shape.rank);
            std::uint64_t outside = 0;
            const std::uint64_t flat = position(row, outside);
            if (outside) [[unlikely]]
                return row - ids + first_outside(row, shape);
            f(k, static_cast<index_t>(flat));
        }
        return -1;
    });
}

/// Adds up or multiplies numbers with equal ids. A run of one id is combined first, in a register. Returns the position of the first id
/// that is not below `segments`, or -1.
template <class Combine, class T, class I>
index_t combine_numbers(const T* x, const I* ids, T* to, index_t count, index_t segments) {
    constexpr index_t group = 64;
    const index_inside<I> inside(segments);
    const auto add = [to](I id, lane<T> v) { to[id] = Combine::merge(lane<T>(to[id]), v).v; };
    for (index_t k = 0; k < count;) {
        if (k + group < count) { // a group of ids that are plain: in range, and each differs from the next one
            loop_flag<I> special = 0;
            for (index_t i = k; i < k + group; ++i) {
                special |= static_cast<loop_flag<I>>(!inside(ids[i]));
                special |= static_cast<loop_flag<I>>(ids[i] == ids[i + 1]);
            }
            if (!special) {
                for (const index_t end = k + group; k < end; k += 4) // unrolled: a tenth less time
                    for (index_t i = k; i < k + 4; ++i) add(ids[i], lane<T>(x[i]));
                continue;
            }
        }
        const index_t end = std::min(k + group, count);
        if (const index_t at = first_refused(ids + k, end - k, index_below<I>(segments)); at >= 0) return k + at;
        while (k < end) {
            const I id = ids[k];
            lane<T> all(x[k]);
            while (++k < count && ids[k] == id) all = Combine::merge(all, lane<T>(x[k]));
            if (id >= 0) add(id, all);
        }
    }
    return -1;
}

}}}} // namespace rill::RILL_ABI::detail::RILL_ISA

namespace rill { inline namespace RILL_ABI { inline namespace RILL_ISA {

/// Converts rows of indices, one per axis of `shape`, to positions in row-major order. Returns the position of the first index outside its
/// axis, or -1.
template <class I> index_t flatten_indices(const I* ids, std::int64_t* to, index_t count, const dims& shape) {
    std::uint64_t outside = 0; // looked at after the loop, which then vectorizes: 1.05 ms, not 1.9, for a million pairs
    detail::with_depth(shape.rank, [&]<int Depth>(std::integral_constant<int, Depth>) -> index_t {
        const detail::row_position<Depth> position(shape);
        for (index_t k = 0; k < count; ++k)
            to[k] = static_cast<std::int64_t>(position(ids + k * (Depth > 0 ? Depth : shape.rank), outside));
        return count;
    });
    return outside ? detail::first_outside(ids, shape) : -1;
}

/// Gathers slices by rows of indices, one per axis of `shape`: to[k, :] = table[ids[k, 0], …, :]. Returns the position of the first index
/// outside its axis, or -1.
template <class T, class I>
index_t gather_rows(const T* table, const I* ids, T* to, index_t count, const dims& shape, index_t inner) {
    // One loop, in which an element is read while the next positions are computed. Positions of a block first take 1.4 times as long.
    if (inner == 1) return detail::each_position(ids, count, shape, [=](index_t k, index_t at) { to[k] = table[at]; });
    return detail::each_position(
        ids, count, shape, [=](index_t k, index_t at) { std::copy_n(table + at * inner, inner, to + k * inner); });
}

/// Combines slices with equal ids: to[ids[k], :] = merge of x[k, :] over k. Skips slices with a negative id; segments without a slice are
/// `empty`. For extremes, `seen` holds a flag per segment. Returns the position of the first id that is not below `segments`, or -1.
template <class Combine, class T, class I>
index_t combine_slices(const T* x, const I* ids, T* to, index_t count, index_t segments, index_t inner, T empty,
                       std::uint8_t* seen) {
    constexpr bool starts_empty = std::is_same_v<Combine, sum_combine> || std::is_same_v<Combine, prod_combine>;
    std::fill_n(to, segments * inner, empty);
    if constexpr (starts_empty)
        if (inner == 1) return detail::combine_numbers<Combine>(x, ids, to, count, segments);
    if (const index_t at = first_refused(ids, count, index_below<I>(segments)); at >= 0) return at;
    if constexpr (!starts_empty) std::fill_n(seen, segments, std::uint8_t(0));
    for (index_t k = 0; k < count; ++k) {
        if (ids[k] < 0) continue;
        const auto id = static_cast<index_t>(ids[k]);
        if constexpr (!starts_empty) {
            if (!seen[id]) {
                seen[id] = 1;
                std::copy_n(x + k * inner, inner, to + id * inner);
                continue;
            }
        }
        if (inner == 1) {
            lane<T> all(x[k]); // a run of one id stays in a register
            while (k + 1 < count && ids[k + 1] == ids[k]) all = Combine::merge(all, lane<T>(x[++k]));
            to[id] = Combine::merge(lane<T>(to[id]), all).v;
        } else {
            detail::combine_merge<Combine, T>(to + id * inner, x + k * inner, inner);
        }
    }
    return -1;
}

/// Gathers slices: to[k, :] = x[ids[k], :], or zeros for negative ids.
template <class T, class I> void gather_segment_slices(const T* x, const I* ids, T* to, index_t inner, index_t count) {
    for (index_t k = 0; k < count; ++k, to += inner) {
        if (ids[k] < 0)
            std::fill_n(to, inner, T(0));
        else
            std::copy_n(x + static_cast<index_t>(ids[k]) * inner, inner, to);
    }
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
