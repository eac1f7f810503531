// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/array/expand_dims.hpp>
#include <rill/ops/array/squeeze.hpp>
#include <rill/ops/linalg/matmul.hpp>
#include <rill/ops/math/mul.hpp>
#include <rill/ops/math/reduce_sum.hpp>

namespace rill { inline namespace RILL_ABI {

template <class A, class B>
inline constexpr bool are_vectors_of_one_size = A::rank == 1 && B::rank == 1 && rules::compatible(static_dims<A>, static_dims<B>);

namespace detail {

void check_dot(const tensor_type& a, const tensor_type& b, const std::source_location& where);

/// Computes the dot product by matmul. Unlike a * b, it fails the run if the sizes differ, instead of broadcasting.
template <class A, class B> auto dot_product(const A& a, const B& b, const std::source_location& where) {
    return squeeze<0, 1>(matmul(expand_dims<0>(a, where), expand_dims<1>(b, where), where), where);
}

} // namespace detail

/// Returns the sum of the products of two vectors of one size: dot(a, b). If the size is known, it takes one pass.
/// Gradients: g b and g a.
template <graph_operand A, graph_operand B>
auto dot(const A& a, const B& b, const std::source_location& where = std::source_location::current()) {
    if constexpr (typed_operand<A> && typed_operand<B>) {
        static_assert(are_vectors_of_one_size<extents_of<A>, extents_of<B>>,
                      "dot: both operands must be vectors (rank 1) of one size");
        static_assert(dtypes_agree<dtype_tag<A>, dtype_tag<B>>, "dot: the dtypes differ; convert with cast<T>()");
        if constexpr (extents_of<A>::value.complete() && extents_of<B>::value.complete())
            return reduce_sum(a * b, where);
        else
            return detail::dot_product(a, b, where);
    } else {
        detail::require_rank("dot", a, 1, where);
        detail::require_rank("dot", b, 1, where);
        detail::check_dot(detail::operand_type(a), detail::operand_type(b), where);
        return detail::dot_product(a, b, where);
    }
}

}} // namespace rill::RILL_ABI

#if RILL_DEFINE
namespace rill { inline namespace RILL_ABI {

RILL_INLINE void detail::check_dot(const tensor_type& a, const tensor_type& b, const std::source_location& where) {
    const auto both = to_string(a) + " and " + to_string(b) + at_place(where);
    if (a.type != b.type) throw invalid_argument("dot: the dtypes differ: " + both);
    if (!rules::compatible(a.shape, b.shape)) throw invalid_argument("dot: the sizes differ: " + both);
}

}} // namespace rill::RILL_ABI
#endif
