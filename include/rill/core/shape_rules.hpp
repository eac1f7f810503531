// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <concepts>
#include <limits>
#include <optional>
#include <string>

#include <rill/core/dims.hpp>

// Shape rules: constexpr functions over extents. Expressions evaluate them for static types, graphs for nodes.

namespace rill { inline namespace RILL_ABI {

/// The result of a shape rule: the shape, or a phrase that names the broken rule. In that case the shape is only well-formed.
struct shape_result {
    dims shape;
    const char* broken = nullptr;
    std::optional<int> axis = {}; // the axis that the phrase refers to

    constexpr bool ok() const { return broken == nullptr; }
    /// Returns the phrase with its axis.
    std::string reason() const { return broken + (axis ? ": " + std::to_string(*axis) : std::string()); }

    static constexpr shape_result wrong_axis(const dims& shape, int axis) {
        return {shape, "the axis is out of range", axis};
    }
};

/// A list of axes. Negative axes count from the end. For reductions an empty list means all axes.
struct axis_list {
    std::int8_t count = 0;
    std::array<std::int8_t, max_rank> axis{}; // small, since every fused node has several

    constexpr axis_list() = default;
    constexpr axis_list(std::initializer_list<int> values) {
        for (const int v : values) push(v);
    }
    /// Appends an axis. Throws invalid_argument if there are 8 already.
    constexpr void push(index_t value) {
        if (count >= max_rank) detail::refuse_rank("axis_list: at most 8 axes, as many as a shape has extents");
        set(count++, value);
    }
    /// Sets an axis. An axis out of every tensor's range stays out of range when narrowed.
    constexpr void set(int i, index_t value) {
        constexpr int most = 127;
        axis[i] = static_cast<std::int8_t>(value > most ? most : value < -most ? -most : value);
    }
    constexpr int operator[](int i) const { return axis[i]; }
    friend constexpr bool operator==(const axis_list&, const axis_list&) = default;
};

/// An integer of the host: an axis, an index, a count.
template <class A>
concept host_integer = std::integral<A> && !std::same_as<A, bool>;

/// The number of axes that an argument's type names; -1: any number.
template <class A> inline constexpr int axis_count = -1;
template <host_integer A> inline constexpr int axis_count<A> = 1;
template <class T, std::size_t N> inline constexpr int axis_count<std::array<T, N>> = static_cast<int>(N);

/// Axes known only at run time: an integer, an axis_list, an array (deduced from braces of numbers), a vector.
template <class A>
concept runtime_axes = host_integer<A> || std::same_as<A, axis_list> || requires(const A& axes) {
    requires host_integer<typename A::value_type>;
    axes.begin();
};

/// Returns axes of any form as a list.
template <runtime_axes A> constexpr axis_list to_axes(const A& axes) {
    axis_list all;
    if constexpr (host_integer<A>)
        all.push(static_cast<index_t>(axes));
    else if constexpr (std::same_as<A, axis_list>)
        return axes;
    else
        for (const auto axis : axes) all.push(static_cast<index_t>(axis));
    return all;
}

namespace rules {

/// Returns a shape of known rank and unknown extents.
constexpr dims of_rank(int rank) {
    dims r;
    r.rank = rank;
    for (int i = 0; i < rank; ++i) r[i] = dyn;
    return r;
}

/// Returns a shape with `more` axes added (negative: removed) at positions known only at run time.
constexpr shape_result change_rank(const dims& x, int more) {
    if (!x.known_rank()) return {dims::unknown()};
    if (x.rank + more < 0) return {dims{}, "there are fewer axes"};
    if (x.rank + more > max_rank) return {x, "the result would have more than 8 dimensions"};
    return {of_rank(x.rank + more)};
}

/// Returns the shape of a reduction whose axes are known only at run time. Type A gives the number of axes, which are removed or
/// kept as 1.
template <class A> constexpr shape_result reduce_later(const dims& x, bool keep_dims) {
    if (keep_dims) return change_rank(x, 0);
    return axis_count<A> < 1 ? shape_result{dims::unknown()} : change_rank(x, -axis_count<A>);
}

/// Returns the axis counted from the front, or -1 if out of range.
constexpr int normal_axis(int axis, int rank) {
    const int a = axis < 0 ? axis + rank : axis;
    return a >= 0 && a < rank ? a : -1;
}

/// Returns the extent of an axis; dyn if it is unknown or the axis does not exist.
constexpr index_t extent_along(const dims& x, int axis) {
    const int at = x.known_rank() ? normal_axis(axis, x.rank) : -1;
    return at < 0 ? dyn : x[at];
}

constexpr bool extents_compatible(index_t a, index_t b) { return a == dyn || b == dyn || a == b; }

/// Returns true if a value of shape b fits where shape a is expected.
constexpr bool compatible(const dims& a, const dims& b) {
    if (!a.known_rank() || !b.known_rank()) return true;
    if (a.rank != b.rank) return false;
    for (int i = 0; i < a.rank; ++i)
        if (!extents_compatible(a[i], b[i])) return false;
    return true;
}

/// Merges two compatible shapes: known extents win.
constexpr dims merge(const dims& a, const dims& b) {
    if (!a.known_rank()) return b;
    if (!b.known_rank()) return a;
    dims r = a;
    for (int i = 0; i < a.rank; ++i)
        if (r[i] == dyn) r[i] = b[i];
    return r;
}

/// Returns the most specific shape that covers both: extents that differ or are unknown in one become unknown.
constexpr dims common(const dims& a, const dims& b) {
    if (!a.known_rank() || a.rank != b.rank) return dims::unknown();
    dims r = a;
    for (int i = 0; i < a.rank; ++i)
        if (a[i] != b[i]) r[i] = dyn;
    return r;
}

/// Applies NumPy broadcasting: aligned from the right, 1 stretches. dyn with n gives n (at run time it must be 1 or n).
constexpr shape_result broadcast(const dims& a, const dims& b) {
    if (!a.known_rank() || !b.known_rank()) return {dims::unknown()};
    dims r;
    r.rank = a.rank > b.rank ? a.rank : b.rank;
    for (int i = 0; i < r.rank; ++i) {
        const int ia = i - (r.rank - a.rank), ib = i - (r.rank - b.rank);
        const index_t x = ia < 0 ? 1 : a[ia], y = ib < 0 ? 1 : b[ib];
        if (x == y || y == 1)
            r[i] = x;
        else if (x == 1 || x == dyn)
            r[i] = y;
        else if (y == dyn)
            r[i] = x;
        else
            return {a.rank >= b.rank ? a : b, "the shapes do not broadcast"};
    }
    return {r};
}

/// Computes the shape of [m, k] x [k, n] -> [m, n]; either operand may be transposed.
constexpr shape_result matmul(const dims& a, const dims& b, bool transpose_a = false, bool transpose_b = false) {
    const bool known = a.known_rank() && b.known_rank();
    if ((a.known_rank() && a.rank != 2) || (b.known_rank() && b.rank != 2))
        return {dims{dyn, dyn}, "both operands must be matrices (rank 2)"};
    if (!known)
        return {dims{a.known_rank() ? a[transpose_a ? 1 : 0] : dyn, b.known_rank() ? b[transpose_b ? 0 : 1] : dyn}};
    const dims r{a[transpose_a ? 1 : 0], b[transpose_b ? 0 : 1]};
    if (!extents_compatible(a[transpose_a ? 0 : 1], b[transpose_b ? 1 : 0])) return {r, "the inner extents differ"};
    return {r};
}

/// Returns the index along each axis of an element of a dense row-major tensor.
constexpr dims position_of(index_t flat, const dims& shape) {
    dims position;
    position.rank = shape.rank;
    for (int i = shape.rank - 1; i >= 0; flat /= shape[i], --i) position[i] = flat % shape[i];
    return position;
}

/// Removes the axes (all axes for an empty list), or keeps them as 1.
constexpr shape_result reduce(const dims& a, const axis_list& axes, bool keep_dims) {
    if (!a.known_rank()) return {axes.count == 0 && !keep_dims ? dims{} : dims::unknown()};
    std::array<bool, max_rank> gone{};
    for (int i = 0; i < axes.count; ++i) {
        const int axis = normal_axis(axes[i], a.rank);
        if (axis < 0) return {dims{}, "an axis is out of range", axes[i]};
        if (gone[axis]) return {dims{}, "an axis is named twice", axes[i]};
        gone[axis] = true;
    }
    dims r;
    for (int i = 0; i < a.rank; ++i) {
        const bool reduced = axes.count == 0 || gone[i];
        if (!reduced)
            r.push(a[i]);
        else if (keep_dims)
            r.push(1);
    }
    return {r};
}

/// Returns the product of the known extents; -1 if it overflows.
constexpr index_t known_size(const dims& d) {
    constexpr index_t most = std::numeric_limits<index_t>::max();
    index_t n = 1;
    for (int i = 0; i < d.rank; ++i) {
        if (d[i] == dyn) continue;
        if (d[i] == 0) return 0;
        const bool small = (n | d[i]) >> 31 == 0; // both are small: avoids the division in nearly all cases
        n = small ? n * d[i] : n < 0 || n > most / d[i] ? -1 : n * d[i];
    }
    return n;
}

/// Returns the shape `to`, which must have the same size; one extent may be dyn and is inferred.
constexpr shape_result reshape(const dims& from, const dims& to) {
    if (to.dynamic_extents() > 1 || !from.complete()) return {to};
    const index_t total = known_size(from), known = known_size(to);
    if (total < 0 || known < 0) return {to, "there would be more elements than an index counts"};
    if (to.dynamic_extents() == 0) return {to, known == total ? nullptr : "the sizes differ"};
    if (known == 0 || total % known != 0) return {to, "the sizes differ"};
    dims r = to;
    for (int i = 0; i < r.rank; ++i)
        if (r[i] == dyn) r[i] = total / known;
    return {r};
}

/// Permutes the axes; an empty list reverses them.
constexpr shape_result transpose(const dims& a, const axis_list& order) {
    if (!a.known_rank()) return {dims::unknown()};
    dims r;
    r.rank = a.rank;
    if (order.count == 0) {
        for (int i = 0; i < a.rank; ++i) r[i] = a[a.rank - 1 - i];
        return {r};
    }
    if (order.count != a.rank) return {a, "the permutation must name every axis once"};
    std::array<bool, max_rank> seen{};
    for (int i = 0; i < a.rank; ++i) {
        const int axis = normal_axis(order[i], a.rank);
        if (axis < 0 || seen[axis]) return {a, "the permutation must name every axis once"};
        seen[axis] = true;
        r[i] = a[axis];
    }
    return {r};
}

/// Joins shapes along an axis. All other extents must agree.
constexpr shape_result concat(const dims& a, const dims& b, int axis) {
    if (!a.known_rank() || !b.known_rank()) return {dims::unknown()};
    const int at = normal_axis(axis, a.rank);
    if (at < 0) return shape_result::wrong_axis(a, axis);
    if (a.rank != b.rank) return {a, "the ranks differ"};
    dims r = a;
    for (int i = 0; i < a.rank; ++i) {
        if (i == at) {
            r[i] = a[i] == dyn || b[i] == dyn ? dyn : a[i] + b[i];
            continue;
        }
        if (!extents_compatible(a[i], b[i])) return {a, "the extents beside the axis differ"};
        if (r[i] == dyn) r[i] = b[i];
    }
    return {r};
}

/// Computes the shape of rows of `table` along `axis`, chosen by `ids`: the axis is replaced by the shape of ids.
constexpr shape_result gather(const dims& table, const dims& ids, int axis) {
    if (!table.known_rank() || !ids.known_rank()) return {dims::unknown()};
    const int at = normal_axis(axis, table.rank);
    if (at < 0) return shape_result::wrong_axis(table, axis);
    if (table.rank - 1 + ids.rank > max_rank) return {table, "the result would have more than 8 dimensions"};
    dims r;
    for (int i = 0; i < at; ++i) r.push(table[i]);
    for (int i = 0; i < ids.rank; ++i) r.push(ids[i]);
    for (int i = at + 1; i < table.rank; ++i) r.push(table[i]);
    return {r};
}

/// Inserts an extent of `size` before `axis` (negative: counted from the end of the result).
constexpr shape_result insert_axis(const dims& a, int axis, index_t size) {
    if (!a.known_rank()) return {dims::unknown()};
    if (a.rank == max_rank) return {a, "the result would have more than 8 dimensions"};
    const int at = normal_axis(axis, a.rank + 1);
    if (at < 0) return shape_result::wrong_axis(a, axis);
    dims r;
    for (int i = 0; i <= a.rank; ++i) {
        if (i == at) r.push(size);
        if (i < a.rank) r.push(a[i]);
    }
    return {r};
}

/// Returns the shape of one slice along axis 0.
constexpr dims slice(const dims& a) {
    if (!a.known_rank()) return dims::unknown();
    dims r;
    for (int i = 1; i < a.rank; ++i) r.push(a[i]);
    return r;
}

} // namespace rules

}} // namespace rill::RILL_ABI
