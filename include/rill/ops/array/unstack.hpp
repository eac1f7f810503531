// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/array/split.hpp>
#include <rill/ops/array/squeeze.hpp>

namespace rill { inline namespace RILL_ABI {

/// True if the number of slices along an axis is known, and not 0.
template <class E, int Axis> inline constexpr bool slices_are_counted = rules::extent_along(static_dims<E>, Axis) > 0;

/// Splits x into a tuple of slices without the axis: unstack<0>(x). Gradient: the slices' gradients, stacked.
template <int Axis, typed_operand X>
auto unstack(const X& x, const std::source_location& where = std::source_location::current()) {
    static_assert(axes_exist<extents_of<X>, Axis>, "unstack: the axis is out of range");
    static_assert(slices_are_counted<extents_of<X>, Axis>,
                  "unstack: the extent along the axis must be known, and not 0; split cuts along others");
    constexpr index_t count = rules::extent_along(extents_of<X>::value, Axis);
    return std::apply([&](const auto&... part) { return std::tuple{squeeze<Axis>(part, where)...}; },
                      split<Axis, count>(x, where));
}
/// Splits a tensor whose extents are known when the graph is built, but not from its type.
template <graph_operand X>
auto unstack(const X& x, int axis = 0, const std::source_location& where = std::source_location::current()) {
    const auto whole = sealed(x);
    const auto& all = type_of(whole.end()).shape;
    if (all.known_rank() && rules::normal_axis(axis, all.rank) < 0)
        throw invalid_argument("unstack: the axis " + std::to_string(axis) + " is out of range of " + to_string(all) +
                               detail::at_place(where));
    const index_t count = rules::extent_along(all, axis);
    if (count < 1)
        throw invalid_argument("unstack: the extent along axis " + std::to_string(axis) + " of " +
                               to_string(all) + " must be known, and not 0" +
                               detail::at_place(where));
    std::vector<std::decay_t<decltype(squeeze(whole, axis))>> slices;
    for (const auto& part : split(whole, count, axis, where)) slices.push_back(squeeze(part, axis, where));
    return slices;
}

}} // namespace rill::RILL_ABI
