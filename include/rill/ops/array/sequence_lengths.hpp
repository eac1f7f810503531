// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include <rill/ops/array/indices.hpp>
#include <rill/ops/array/shape.hpp>
#include <rill/ops/array/slice.hpp>
#include <rill/ops/array/squeeze.hpp>
#include <rill/ops/math/cast.hpp>

// Sequences of different lengths in one array: lengths [batch], checked against the array.

namespace rill { inline namespace RILL_ABI {

/// Returns the lengths [batch] of sequences, after a check that each is in [0, number of steps]. The number of steps is a field, or the
/// extent of the second input along the time axis. Errors: a length out of range. No gradient flows.
struct sequence_lengths_op {
    static constexpr auto name = "SequenceLengths";
    static constexpr int least_inputs = 1;
    using domain_type = domains::index;
    using compiled_types = types::numbers;
    static constexpr auto no_gradient = "a length does not change smoothly";
    int time_axis = 1, batch_axis = 0; // axes of the second input
    index_t steps = dyn;

    static void fields(auto& op, auto& visit) {
        visit("time_axis", op.time_axis);
        visit("batch_axis", op.batch_axis);
        visit("steps", op.steps);
    }
    static input_list shape_only_inputs() { return {1}; }
    std::vector<tensor_type> outputs(std::span<const tensor_type> in) const;

    template <class D, class T> kernel bind(kernel_request& request) const {
        const index_t most = request.inputs.size() > 1 ? request.inputs[1].shape[time_axis] : steps;
        const detail::index_check<T> lengths(request.inputs[0].shape, most + 1, "length");
        return kernel([lengths](const kernel_args& a) {
            detail::check_indices<D>(a.on, lengths, a.in<T>(0));
            D::copy(a.on, dtype_of<T>, a.in<T>(0), a.out<T>(0), lengths.count);
        });
    }
};

/// True if the lengths are [batch], of int or std::int64_t.
template <class X> inline constexpr bool are_lengths = are_ids<X> && extents_of<X>::rank == 1;

namespace detail {

/// Returns the extent of a tensor along an axis, a std::int64_t of rank 0. It is a constant if the extent is known when
/// the graph is built.
template <int Axis, class X> tensor<std::int64_t> extent_of(const X& x, const std::source_location& where) {
    if (const index_t n = rules::extent_along(type_of(x.end()).shape, Axis); n != dyn)
        return sealed(constant(std::int64_t{n}, where));
    return tensor<std::int64_t>(any_tensor(squeeze<0>(slice<1>(shape<std::int64_t>(x, where), {Axis}, where), where)),
                                where);
}

/// Returns the lengths as std::int64_t, checked against the time and batch extents of x.
template <int Time, int Batch, class L, class X>
auto checked_lengths(const L& lengths, const X& x, const std::source_location& where) {
    if constexpr (untyped_operand<L>) {
        check_index_type(lengths.dtype(), "the lengths");
        const tensor<std::int64_t, dyn> known(any_tensor(cast<std::int64_t>(lengths)), where);
        return checked_lengths<Time, Batch>(known, x, where);
    } else if constexpr (untyped_operand<X>) {
        static_assert(are_lengths<L>, "sequence lengths: a tensor [batch] of int or std::int64_t is expected");
        return tensor<std::int64_t, dyn>(
            unchecked, apply_node(sequence_lengths_op{Time, Batch}, where, sealed(cast<std::int64_t>(lengths)), x));
    } else {
        static_assert(are_lengths<L>, "sequence lengths: a tensor [batch] of int or std::int64_t is expected");
        static_assert(rules::extents_compatible(extents_of<L>::value[0], extents_of<X>::value[Batch]),
                      "sequence lengths: there must be one for each sequence of the batch");
        constexpr auto rule = [](const dims& n, const dims& of) {
            return shape_result{dims{n[0] == dyn ? of[Batch] : n[0]}};
        };
        return apply_node(sequence_lengths_op{Time, Batch}, rule, where, sealed(cast<std::int64_t>(lengths)), x);
    }
}

} // namespace detail

}} // namespace rill::RILL_ABI

#if RILL_DEFINE
namespace rill { inline namespace RILL_ABI {

RILL_INLINE std::vector<tensor_type> sequence_lengths_op::outputs(std::span<const tensor_type> in) const {
    if (in.size() > 2) throw invalid_argument("lengths and a tensor of sequences are expected");
    detail::check_index_type(in[0].type, "the lengths");
    if (in[0].shape.known_rank() && in[0].shape.rank != 1)
        throw invalid_argument("lengths [batch] are expected, not " + to_string(in[0]));
    index_t batch = rules::extent_along(in[0].shape, 0);
    if (in.size() == 2 && in[1].shape.known_rank()) {
        const dims& x = in[1].shape;
        if (time_axis < 0 || batch_axis < 0 || time_axis >= x.rank || batch_axis >= x.rank || time_axis == batch_axis)
            throw invalid_argument("the sequences " + to_string(in[1]) + " have no axis of time or of the batch");
        if (!rules::extents_compatible(batch, x[batch_axis]))
            throw invalid_argument("there are " + std::to_string(batch) + " lengths, and a batch of " +
                                   std::to_string(x[batch_axis]));
        if (batch == dyn) batch = x[batch_axis];
    }
    if (in.size() == 1 && steps < 0) throw invalid_argument("the number of steps is not known");
    return {{in[0].type, {batch}}};
}

}} // namespace rill::RILL_ABI
#endif
