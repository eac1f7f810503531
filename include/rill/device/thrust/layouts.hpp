// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>
#include <type_traits>

#include <rill/device/cpu/primitives/indexing.hpp>
#include <rill/device/execution_context.hpp>
#include <rill/device/lane.hpp>
#include <rill/device/strided_layout.hpp>
#include <rill/device/thrust/launch.hpp>

// Kernels for copies between layouts, and for slices chosen by index. One thread computes an element, or a line of elements if the order
// matters.

namespace rill { inline namespace RILL_ABI { namespace detail { inline namespace RILL_ISA {

/// Returns the space of a strided copy.
inline launch_space space_of(const strided_layout& l) {
    launch_space space{l.rank, l.extent, 1};
    for (int d = 0; d < l.rank; ++d) space.total *= l.extent[static_cast<std::size_t>(d)];
    return space;
}

template <class T> struct copy_layout {
    launch_space space;
    std::array<index_t, max_rank> from_stride, to_stride;
    const T* from;
    T* to;
    RILL_FN T load(index_t i) const { return from[space.offset(i, from_stride)]; }
    RILL_FN void finish(index_t i, const T& x) const { to[space.offset(i, to_stride)] = x; }
};

template <class T> struct add_layout {
    launch_space space;
    std::array<index_t, max_rank> from_stride, to_stride;
    const T* from;
    T* to;
    RILL_FN void operator()(index_t i) const {
        T& at = to[space.offset(i, to_stride)];
        at = (lane<T>(at) + lane<T>(from[space.offset(i, from_stride)])).v;
    }
};

/// A function object that copies one element of an operand to a dense array.
template <class E> struct copy_operand {
    launch_space space;
    std::array<index_t, max_rank> stride;
    const E* from; // null: every element is `value`
    E value;
    E* to;
    RILL_FN E load(index_t i) const { return from ? from[space.offset(i, stride)] : value; }
    RILL_FN void finish(index_t i, const E& x) const { to[i] = x; }
};

template <class T> struct copy_element {
    const T* from;
    T* to;
    RILL_FN T load(index_t i) const { return from[i]; }
    RILL_FN void finish(index_t i, const T& x) const { to[i] = x; }
};

template <class T> struct fill_element {
    T value;
    T* to;
    RILL_FN void operator()(index_t i) const { to[i] = value; }
};

/// A function object for to[o, k, :] = table[o, ids[k], :], over arrays [outer, extent, inner].
template <class T, class I> struct gather_element {
    const T* table;
    const I* ids;
    T* to;
    index_t extent, inner, count;
    RILL_FN T load(index_t i) const {
        const index_t slice = i / inner, k = slice % count, o = slice / count;
        return table[(o * extent + static_cast<index_t>(ids[k])) * inner + i % inner];
    }
    RILL_FN void finish(index_t i, const T& x) const { to[i] = x; }
};

/// A function object for to[o, ids[k], j] += from[o, k, j] for all k in order; one thread for each o and j.
template <class T, class I> struct scatter_add_line {
    const T* from;
    const I* ids;
    T* to;
    index_t extent, inner, count;
    RILL_FN void operator()(index_t i) const {
        const index_t o = i / inner, j = i % inner;
        for (index_t k = 0; k < count; ++k) {
            T& at = to[(o * extent + static_cast<index_t>(ids[k])) * inner + j];
            at = (lane<T>(at) + lane<T>(from[(o * count + k) * inner + j])).v;
        }
    }
};

/// A function object that computes one element of a one-hot array [outer, depth, inner].
template <class T, class I> struct one_hot_element {
    const I* ids;
    T* to;
    index_t depth, inner;
    T on, off;
    RILL_FN void operator()(index_t i) const {
        const I id = ids[i / (depth * inner) * inner + i % inner];
        to[i] = id >= 0 && static_cast<index_t>(id) == i / inner % depth ? on : off;
    }
};

/// A function object that computes the position of a row of indices in row-major order.
template <class I> struct flat_index {
    const I* ids;
    std::int64_t* to;
    dims shape;
    RILL_FN void operator()(index_t row) const {
        std::uint64_t flat = 0; // a refused index may overflow
        for (int j = 0; j < shape.rank; ++j)
            flat = flat * static_cast<std::uint64_t>(shape.extent[j]) +
                   static_cast<std::uint64_t>(ids[row * shape.rank + j]);
        to[row] = static_cast<std::int64_t>(flat);
    }
};
/// A function object that finds an index of a row outside its axis.
template <class I> struct find_outside {
    const I* ids;
    dims shape;
    RILL_FN refused_element operator()(index_t i) const {
        const I id = ids[i];
        const bool inside = id >= 0 && static_cast<index_t>(id) < shape.extent[i % shape.rank];
        return inside ? refused_element{} : refused_element::of(i, id);
    }
};

/// A function object that writes the number of the first slice of each segment. One thread goes from the last slice to the first.
template <class I> struct find_first_slices {
    const I* ids;
    index_t* first;
    index_t count;
    RILL_FN void operator()(index_t) const {
        for (index_t k = count; k-- > 0;)
            if (ids[k] >= 0) first[static_cast<index_t>(ids[k])] = k;
    }
};
/// A function object that combines column j of the slices of each segment, in order. Segments without a slice are `empty`. Without
/// `first`, sums and products begin with `empty`.
template <class Combine, class T, class I> struct combine_column {
    const T* x;
    const I* ids;
    T* to;
    const index_t* first;
    index_t count, segments, inner;
    T empty;
    RILL_FN void operator()(index_t j) const {
        for (index_t s = 0; s < segments; ++s) to[s * inner + j] = empty;
        for (index_t k = 0; k < count; ++k) {
            if (ids[k] < 0) continue;
            const auto id = static_cast<index_t>(ids[k]);
            T& at = to[id * inner + j];
            const T& one = x[k * inner + j];
            at = first && first[id] == k ? one : Combine::merge(lane<T>(at), lane<T>(one)).v;
        }
    }
};
/// A function object for to[k, :] = x[ids[k], :], or zeros for negative ids.
template <class T, class I> struct gather_segment_element {
    const T* x;
    const I* ids;
    T* to;
    index_t inner;
    RILL_FN void operator()(index_t i) const {
        const I id = ids[i / inner];
        to[i] = id < 0 ? T(0) : x[static_cast<index_t>(id) * inner + i % inner];
    }
};

/// A function object that copies element i of rows in another order.
template <class E> struct copy_row_element {
    const E* from;
    const index_t* places;
    index_t inner;
    E* to;
    RILL_FN void operator()(index_t i) const { to[i] = from[places[i / inner] * inner + i % inner]; }
};

/// A function object that finds the index of the extreme along `extent`: the first of equals, or the first NaN.
template <class Combine, class T, class Out> struct arg_extreme_line {
    const T* x;
    Out* to;
    index_t extent, inner;
    RILL_FN void operator()(index_t i) const {
        const T* const line = x + (i / inner * extent) * inner + i % inner;
        index_t best = 0;
        for (index_t e = 1; e < extent; ++e)
            if (goes_before<Combine>(line[e * inner], line[best * inner])) best = e;
        to[i] = static_cast<Out>(best);
    }
};

/// A function object that finds a refused element.
template <class T, class Accepts> struct find_refused {
    const T* x;
    Accepts accepts;
    RILL_FN refused_element operator()(index_t i) const {
        return accepts(x[i]) ? refused_element{} : refused_element::of(i, x[i]);
    }
};

/// Calls f with a type of `element` bytes, for elements as their bits.
template <class F> void with_bits(std::size_t element, const F& f) {
    switch (element) {
    case 1: return f(std::type_identity<std::uint8_t>());
    case 2: return f(std::type_identity<std::uint16_t>());
    case 4: return f(std::type_identity<std::uint32_t>());
    case 8: return f(std::type_identity<std::uint64_t>());
    default: return f(std::type_identity<std::array<std::uint64_t, 2>>());
    }
}

}}}} // namespace rill::RILL_ABI::detail::RILL_ISA
