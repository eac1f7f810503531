// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <utility>

#include <rill/ops/array/concat.hpp>
#include <rill/ops/array/gather.hpp>
#include <rill/ops/array/sequence_lengths.hpp>
#include <rill/ops/array/sequence_mask.hpp>
#include <rill/ops/array/subscript.hpp>
#include <rill/ops/array/transpose.hpp>
#include <rill/ops/math/add.hpp>
#include <rill/ops/math/mul.hpp>
#include <rill/ops/math/select.hpp>
#include <rill/ops/math/sub.hpp>

namespace rill { inline namespace RILL_ABI {

/// True if the time axis and the batch axis exist and differ.
template <class E, int Time, int Batch> inline constexpr bool are_sequence_axes = axes_exist<E, Time, Batch>;

namespace detail {

/// Returns the step numbers along an axis, as std::int64_t.
template <int Axis, class X> auto steps_along(const X& x, const std::source_location& where) {
    constexpr index_t n = typed_operand<X> ? rules::extent_along(extents_of<X>::value, Axis) : dyn;
    if constexpr (n != dyn)
        return steps_of<std::int64_t, n>(where);
    else
        return range(extent_of<Axis>(x, where), where);
}

/// Returns x with its first two axes merged.
template <typed_operand X> auto join_first_axes(const X& x, const std::source_location& where) {
    constexpr dims shape = extents_of<X>::value;
    constexpr bool rest_known = [](const dims& all) {
        for (int i = 2; i < all.rank; ++i)
            if (all[i] == dyn) return false;
        return true;
    }(shape);
    return [&]<std::size_t... I>(std::index_sequence<I...>) {
        if constexpr (rest_known)
            return reshape < shape[0] == dyn || shape[1] == dyn ? dyn : shape[0] * shape[1],
                   shape[static_cast<int>(I) + 2]... > (x, where);
        else
            return reshape(x,
                           concat<0>(constant({std::int64_t{-1}}),
                                     slice<sizeof...(I)>(rill::shape<std::int64_t>(x, where), {2}, where), where),
                           where);
    }(std::make_index_sequence<static_cast<std::size_t>(shape.rank - 2)>{});
}
template <untyped_operand X> // a template, so that only programs that call it have its kernels
any_tensor join_first_axes(const X& x, const std::source_location& where) {
    const auto rows = expand_dims<0>(extent_of<0>(x, where) * extent_of<1>(x, where), where);
    return reshape(x, concat<0>(rows, rill::shape<std::int64_t>(x, where)(slice_range{2}), where), where);
}

/// Returns the sequences of x [batch, time, ..] or [time, batch, ..], reversed.
template <int Time, class X, typed_operand L>
auto turned_sequences(const X& x, const L& lengths, const std::source_location& where) {
    const auto time = expand_dims<1 - Time>(steps_along<Time>(x, where), where);
    const auto batch = expand_dims<Time>(steps_along<1 - Time>(x, where), where);
    const auto length = expand_dims<Time>(lengths, where);
    const auto from = select(time < length, length - 1 - time, time);
    const auto rows = [&](const auto& first, const auto& second) { // indices into the merged axes
        return sealed(first * extent_of<1>(x, where) + second);
    };
    const auto ids = [&] {
        if constexpr (Time == 1)
            return rows(batch, from);
        else
            return rows(from, batch);
    }();
    const any_tensor made(gather<0>(join_first_axes(x, where), ids, where));
    return typed_result<void, X>(shape_of_first, made);
}

/// The permutation that moves two axes to the front, and its inverse.
template <int Rank, int First, int Second> struct leading_axes {
    static constexpr std::array<int, Rank> order = [] {
        std::array<int, Rank> all{First, Second};
        for (int i = 0, at = 2; i < Rank; ++i)
            if (i != First && i != Second) all[static_cast<std::size_t>(at++)] = i;
        return all;
    }();
    static constexpr std::array<int, Rank> inverse = [] {
        std::array<int, Rank> all{};
        for (int i = 0; i < Rank; ++i) all[static_cast<std::size_t>(order[static_cast<std::size_t>(i)])] = i;
        return all;
    }();
};

} // namespace detail

/// Reverses the first lengths[b] steps of each sequence of x [batch, time, ..]: reverse_sequence(x, lengths). Later steps stay in place.
/// reverse_sequence<0, 1>(x, lengths) gives the time axis and the batch axis. Lengths: [batch], int or std::int64_t, or host values.
/// Gradient: g, reversed in the same way. Errors: a length below 0 or beyond the sequence.
template <int Time = 1, int Batch = 0, typed_operand X, ids_argument L = std::vector<int>>
auto reverse_sequence(const X& x, const L& lengths,
                      const std::source_location& where = std::source_location::current()) {
    static_assert(are_ids<L>, "reverse_sequence: the lengths must be int or std::int64_t");
    using E = extents_of<X>;
    static_assert(are_sequence_axes<E, Time, Batch>, "reverse_sequence: an axis is out of range, or named twice");
    constexpr int time = rules::normal_axis(Time, E::rank), batch = rules::normal_axis(Batch, E::rank);
    const auto all = sealed(x);
    const auto known = detail::checked_lengths<time, batch>(detail::ids_beside(all, lengths, where), all, where);
    if constexpr (time < 2 && batch < 2) {
        return detail::turned_sequences<time>(all, known, where);
    } else {
        using axes = detail::leading_axes<E::rank, batch, time>;
        return [&]<std::size_t... I>(std::index_sequence<I...>) {
            const auto turned =
                detail::turned_sequences<1>(sealed(transpose<axes::order[I]...>(all, where)), known, where);
            return sealed(transpose<axes::inverse[I]...>(turned, where));
        }(std::make_index_sequence<static_cast<std::size_t>(E::rank)>{});
    }
}

/// Overload for axes known only at run time: reverse_sequence(x, lengths, 0, 1).
template <graph_operand X, ids_argument L = std::vector<int>>
auto reverse_sequence(const X& x, const L& lengths, int time, int batch,
                      const std::source_location& where = std::source_location::current()) {
    static_assert(are_ids<L>, "reverse_sequence: the lengths must be int or std::int64_t");
    if constexpr (typed_operand<X>)
        static_assert(extents_of<X>::rank >= 2,
                      "reverse_sequence: an axis of time and an axis of the batch are expected");
    const dims shape = detail::operand_type(x).shape;
    const int rank = shape.rank;
    if (!shape.known_rank())
        throw invalid_argument("reverse_sequence: the rank of the tensor must be known" + detail::at_place(where));
    if (const auto r = rules::reduce(shape, {time, batch}, false); !r.ok())
        throw invalid_argument("reverse_sequence: " + r.reason() + detail::at_place(where));
    axis_list order{rules::normal_axis(batch, rank), rules::normal_axis(time, rank)};
    for (int i = 0; i < rank; ++i)
        if (i != order[0] && i != order[1]) order.push(i);
    axis_list inverse = order;
    for (int i = 0; i < rank; ++i) inverse.set(order[i], i);
    const auto leading = sealed(transpose(x, order, where));
    const auto known = detail::checked_lengths<1, 0>(detail::ids_beside(leading, lengths, where), leading, where);
    const any_tensor made(transpose(detail::turned_sequences<1>(leading, known, where), inverse, where));
    return detail::typed_result<void, X>(detail::shape_of_first, made);
}
/// Overload for a tensor whose type is known at run time only.
template <int Time = 1, int Batch = 0, untyped_operand X, ids_argument L = std::vector<int>>
any_tensor reverse_sequence(const X& x, const L& lengths,
                            const std::source_location& where = std::source_location::current()) {
    return reverse_sequence(x, lengths, Time, Batch, where);
}

}} // namespace rill::RILL_ABI
