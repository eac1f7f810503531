// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/array/expand_dims.hpp>
#include <rill/ops/array/range.hpp>
#include <rill/ops/array/reshape.hpp>
#include <rill/ops/math/cast.hpp>
#include <rill/ops/math/less.hpp>
#include <rill/ops/math/maximum.hpp>
#include <rill/ops/math/reduce_max.hpp>

namespace rill { inline namespace RILL_ABI {

namespace detail {

/// Returns the steps 0, 1, … of a sequence as an I, of shape [Steps]. Their number may also be a host number or a
/// tensor of rank 0.
template <class I, index_t Steps> auto steps_of(const std::source_location& where) {
    return sealed(reshape<Steps>(range(static_cast<I>(Steps), where), where));
}

template <typed_operand L, class Steps>
auto mask_of_steps(const L& lengths, const Steps& steps, const std::source_location& where) {
    static_assert(are_ids<L>, "sequence_mask: the lengths must be int or std::int64_t");
    return sealed(steps < expand_dims<extents_of<L>::rank>(lengths, where));
}

} // namespace detail

/// Returns a bool for each of 5 steps: sequence_mask<5>(lengths). It is true before the end of the sequence. Shape: that of the lengths,
/// then [5]. A larger length gives all true. cast<float>(sequence_mask<5>(lengths)) gives weights.
template <index_t Longest, typed_operand L>
auto sequence_mask(const L& lengths, const std::source_location& where = std::source_location::current()) {
    static_assert(Longest >= 0, "sequence_mask: the number of steps is negative");
    return detail::mask_of_steps(lengths, detail::steps_of<value_type_of<L>, Longest>(where), where);
}
/// Returns a mask for a number of steps known only at run time: a number, or a tensor of rank 0.
template <typed_operand L, class N>
    requires(host_integer<N> || typed_operand<N>)
auto sequence_mask(const L& lengths, const N& longest,
                   const std::source_location& where = std::source_location::current()) {
    using I = value_type_of<L>;
    if constexpr (host_integer<N>)
        return detail::mask_of_steps(lengths, range(static_cast<I>(longest), where), where);
    else
        return detail::mask_of_steps(lengths, range(sealed(cast<I>(longest)), where), where);
}
/// Returns a mask with as many steps as the longest sequence.
template <typed_operand L>
auto sequence_mask(const L& lengths, const std::source_location& where = std::source_location::current()) {
    const auto all = sealed(lengths); // read twice
    return sequence_mask(all, sealed(maximum(reduce_max(all, where), 0)), where);
}

}} // namespace rill::RILL_ABI
