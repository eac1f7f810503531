// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/math/mul.hpp>
#include <rill/ops/math/reduce_sum.hpp>

namespace rill { inline namespace RILL_ABI {

template <class A, class B>
inline constexpr bool are_vectors_of_one_size = A::rank == 1 && B::rank == 1 && rules::compatible(A::value, B::value);

/// dot(a, b): the sum of the products of two vectors, in one pass. Gradients: g b and g a.
template <graph_operand A, graph_operand B>
auto dot(const A& a, const B& b, const std::source_location& where = std::source_location::current()) {
    if constexpr (typed_operand<A> && typed_operand<B>) {
        static_assert(are_vectors_of_one_size<extents_of<A>, extents_of<B>>,
                      "dot: both operands must be vectors (rank 1) of one size");
        static_assert(dtypes_agree<dtype_tag<A>, dtype_tag<B>>, "dot: the dtypes differ; convert with cast<T>()");
    }
    return reduce_sum(a * b, where);
}

}} // namespace rill::RILL_ABI
