// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/array/expand_dims.hpp>
#include <rill/ops/linalg/matmul.hpp>
#include <rill/ops/math/mul.hpp>

namespace rill { inline namespace RILL_ABI {

template <class A, class B> inline constexpr bool are_vectors = A::rank == 1 && B::rank == 1;

/// Returns the outer product: outer(a, b) of [m] and [n] is [m, n]. Gradients: those of a product that broadcasts.
template <graph_operand A, graph_operand B>
auto outer(const A& a, const B& b, const std::source_location& where = std::source_location::current()) {
    if constexpr (typed_operand<A> && typed_operand<B>)
        static_assert(are_vectors<extents_of<A>, extents_of<B>>, "outer: both operands must be vectors (rank 1)");
    detail::require_rank("outer", a, 1, where);
    detail::require_rank("outer", b, 1, where);
    return expand_dims<1>(a, where) * expand_dims<0>(b, where);
}

}} // namespace rill::RILL_ABI
