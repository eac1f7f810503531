// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <limits>

#include <rill/device/strided_layout.hpp>
#include <rill/expr/node_op.hpp>

namespace rill { inline namespace RILL_ABI {

/// A range along an axis, like Python's begin:end:step. Negative positions count from the end. `all` leaves a bound open.
/// Positions out of range are clamped.
struct slice_range {
    static constexpr index_t all = std::numeric_limits<index_t>::min();
    index_t begin = all, end = all, step = 1;
};

/// Selects a whole axis, as an index: x(all, 1). It is a function, so that programs can still name variables `all`.
constexpr slice_range all() { return {}; }

/// The type of `new_axis`, an index that inserts an axis of extent 1: x(all, new_axis). `new_axis` is a function for
/// the same reason as `all`.
struct added_axis {};
constexpr added_axis new_axis() { return {}; }

namespace rules {

/// The ranges of the first axes. The other axes are taken whole.
struct slicing {
    index_list begin, end, step;

    constexpr slicing() = default;
    constexpr slicing(std::initializer_list<slice_range> ranges) {
        for (const auto& r : ranges) push(r);
    }
    constexpr void push(const slice_range& r) {
        begin.push(r.begin);
        end.push(r.end);
        step.push(r.step);
    }
    friend constexpr bool operator==(const slicing&, const slicing&) = default;
};

/// A range resolved for an axis of n elements: its first position, and its number of elements.
struct taken_range {
    index_t first = 0, count = 0;
};
constexpr taken_range take(index_t begin, index_t end, index_t step, index_t n) {
    const index_t low = step > 0 ? 0 : -1, high = step > 0 ? n : n - 1;
    const auto place = [&](index_t at, index_t left_out) {
        if (at == slice_range::all) return left_out;
        if (at < 0) at = at < -n ? low : at + n;
        return at < low ? low : at > high ? high : at;
    };
    const index_t from = place(begin, step > 0 ? low : high), to = place(end, step > 0 ? high : low);
    const index_t way = step > 0 ? to - from : from - to;
    if (way <= 0) return {from, 0};
    // unsigned, because negating the smallest integer overflows
    const auto stride = step > 0 ? static_cast<std::uint64_t>(step) : 0 - static_cast<std::uint64_t>(step);
    return {from, static_cast<index_t>((static_cast<std::uint64_t>(way) - 1) / stride + 1)};
}

/// Returns the shape of the slice, or the reason why the ranges are invalid.
constexpr shape_result slice(const dims& x, const slicing& s) {
    for (int i = 0; i < s.step.rank; ++i)
        if (s.step[i] == 0) return {x, "a step is 0"};
    if (!x.known_rank()) return {dims::unknown()};
    if (s.begin.rank > x.rank) return {x, "there are more ranges than axes"};
    dims r = x;
    for (int i = 0; i < s.begin.rank; ++i)
        if (s.begin[i] != slice_range::all || s.end[i] != slice_range::all || s.step[i] < -1 || s.step[i] > 1)
            r[i] = x[i] == dyn ? dyn : take(s.begin[i], s.end[i], s.step[i], x[i]).count;
    return {r};
}

} // namespace rules

namespace detail {

/// The layout of the elements that ranges select in a tensor: `begin`, and the copy out of the tensor or into it.
struct sliced_layout {
    index_t begin = 0;
    bool empty = false;
    strided_layout layout;
};
sliced_layout layout_of_slice(const dims& x, const rules::slicing& s, bool out_of_x);
/// Returns the elements that ranges select in a dense tensor of shape `x`.
strided_view view_of_slice(const dims& x, const rules::slicing& s);

void fields_of_slicing(auto& s, auto& visit) {
    visit("begin", s.begin);
    visit("end", s.end);
    visit("strides", s.step);
}

/// The layout of a copy of a block of `size` out of an array of shape `whole`, or into it. It does not include the
/// block's begin.
struct block_layout {
    dims whole, size;
    strided_layout layout;

    block_layout(const dims& array, const dims& block, bool out_of);
    /// Returns the offset of the block in the array, from numbers that the host reads. Throws invalid_argument if the block
    /// does not fit.
    template <class I> index_t begin(const I* numbers) const {
        index_list at;
        for (int i = 0; i < whole.rank; ++i) at.push(static_cast<index_t>(numbers[i]));
        return checked_begin(at);
    }

private:
    index_t checked_begin(const index_list& at) const;
};

/// Returns the shape of a slice, after a check that begins, ends and steps are equally many. A graph file may hold any
/// lists.
shape_result checked_slice(const dims& x, const rules::slicing& s);

} // namespace detail

}} // namespace rill::RILL_ABI

#if RILL_DEFINE
namespace rill { inline namespace RILL_ABI { namespace detail {

RILL_INLINE strided_view view_of_slice(const dims& x, const rules::slicing& s) {
    strided_view v{0, dense_strides(x)};
    for (int i = 0; i < s.begin.rank; ++i) {
        const auto taken = rules::take(s.begin[i], s.end[i], s.step[i], x[i]);
        v.begin += v.stride[i] * taken.first;
        v.stride[i] *= taken.count > 1 ? s.step[i] : 1; // a single element needs no step, which may be large
    }
    return v;
}

RILL_INLINE sliced_layout layout_of_slice(const dims& x, const rules::slicing& s, bool out_of_x) {
    const dims y = rules::slice(x, s).shape;
    const auto view = view_of_slice(x, s);
    const auto dense = dense_strides(y);
    sliced_layout l;
    l.begin = view.begin;
    l.empty = y.size() == 0;
    for (int i = 0; i < x.rank; ++i)
        l.layout.push(y[i], out_of_x ? view.stride[i] : dense[i], out_of_x ? dense[i] : view.stride[i]);
    l.layout.collapse();
    return l;
}

RILL_INLINE block_layout::block_layout(const dims& array, const dims& block, bool out_of) : whole(array), size(block) {
    const auto wide = dense_strides(whole), dense = dense_strides(size);
    for (int i = 0; i < whole.rank; ++i) layout.push(size[i], out_of ? wide[i] : dense[i], out_of ? dense[i] : wide[i]);
    layout.collapse();
}

RILL_INLINE index_t block_layout::checked_begin(const index_list& at) const {
    const auto wide = dense_strides(whole);
    index_t first = 0;
    for (int i = 0; i < whole.rank; ++i) {
        if (at[i] < 0 || at[i] > whole[i] - size[i])
            throw invalid_argument("the slice reaches beyond the tensor: " + to_string(size) + " of " +
                                   to_string(whole) + " from " + to_string(at) + " on");
        first += at[i] * wide[i];
    }
    return first;
}

RILL_INLINE shape_result checked_slice(const dims& x, const rules::slicing& s) {
    if (!s.begin.known_rank() || s.end.rank != s.begin.rank || s.step.rank != s.begin.rank)
        return {x, "there must be as many begins as ends and steps"};
    return rules::slice(x, s);
}

}}} // namespace rill::RILL_ABI::detail
#endif
