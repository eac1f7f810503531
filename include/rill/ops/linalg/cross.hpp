// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/array/roll.hpp>
#include <rill/ops/math/mul.hpp>
#include <rill/ops/math/sub.hpp>

namespace rill { inline namespace RILL_ABI {

/// True if the last axis of E holds vectors of three numbers.
template <class E> inline constexpr bool has_vectors_of_three = E::rank >= 1 && rules::extent_along(static_dims<E>, -1) == 3;

/// Returns the cross products of the vectors of a and b, [.., 3] each. Gradients: for a cross(b, g), for b cross(g, a).
template <typed_operand A, typed_operand B>
auto cross(const A& a, const B& b, const std::source_location& where = std::source_location::current()) {
    static_assert(has_vectors_of_three<extents_of<A>> && has_vectors_of_three<extents_of<B>>,
                  "cross: the last extent of both tensors must be 3, in their types");
    static_assert(rules::compatible(extents_of<A>::value, extents_of<B>::value), "cross: the shapes differ");
    static_assert(dtypes_agree<dtype_tag<A>, dtype_tag<B>>, "cross: the dtypes differ; convert with cast<T>()");
    const auto u = sealed(a), v = sealed(b); // read twice
    return sealed(roll<-1>(u, -1, where) * roll<-1>(v, -2, where) - roll<-1>(u, -2, where) * roll<-1>(v, -1, where));
}

}} // namespace rill::RILL_ABI
