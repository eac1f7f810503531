// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/array/expand_dims.hpp>
#include <rill/ops/array/squeeze.hpp>
#include <rill/ops/linalg/matmul.hpp>

namespace rill { inline namespace RILL_ABI {

/// True if the operands are [.., m, k] and [.., k].
template <class A, class B>
inline constexpr bool is_matrix_and_vector =
    A::rank >= 2 && B::rank >= 1 &&
    rules::extents_compatible(rules::extent_along(static_dims<A>, -1), rules::extent_along(static_dims<B>, -1));

namespace detail {
void check_matvec(const tensor_type& matrix, const tensor_type& vector, const std::source_location& where);
} // namespace detail

/// Returns the product of a matrix and a vector: matvec(m, v). [m, k] times [k] gives [m]; batches broadcast as in
/// matmul. Gradients: those of matmul.
template <graph_operand A, graph_operand B>
auto matvec(const A& matrix, const B& vector, const std::source_location& where = std::source_location::current()) {
    if constexpr (typed_operand<A> && typed_operand<B>) {
        static_assert(is_matrix_and_vector<extents_of<A>, extents_of<B>>,
                      "matvec: a matrix [m, k] and a vector [k] are expected");
        static_assert(dtypes_agree<dtype_tag<A>, dtype_tag<B>>, "matvec: the dtypes differ; convert with cast<T>()");
    } else {
        detail::check_matvec(detail::operand_type(matrix), detail::operand_type(vector), where);
    }
    return squeeze<-1>(matmul(matrix, expand_dims<-1>(vector, where), where), where);
}

}} // namespace rill::RILL_ABI

#if RILL_DEFINE
namespace rill { inline namespace RILL_ABI {

RILL_INLINE void detail::check_matvec(const tensor_type& matrix, const tensor_type& vector,
                                      const std::source_location& where) {
    const dims &m = matrix.shape, &v = vector.shape;
    const auto both = to_string(matrix) + " and " + to_string(vector) + at_place(where);
    if (matrix.type != vector.type) throw invalid_argument("matvec: the dtypes differ: " + both);
    const bool fits = (!m.known_rank() || m.rank >= 2) && (!v.known_rank() || v.rank >= 1) &&
                      rules::extents_compatible(rules::extent_along(m, -1), rules::extent_along(v, -1));
    if (!fits) throw invalid_argument("matvec: a matrix [m, k] and a vector [k] are expected, not " + both);
}

}} // namespace rill::RILL_ABI
#endif
