// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/math/mul.hpp>

namespace rill { inline namespace RILL_ABI {

/// True if an operand can be the factor of scalar_mul: one number.
template <class S> inline constexpr bool is_scalar_operand = true;
template <typed_operand S> inline constexpr bool is_scalar_operand<S> = extents_of<S>::rank == 0;

/// Returns x times one number, as an expression. The number is a host value or a tensor of rank 0. Shape: that of x. Gradients: those of a
/// product.
template <class S, graph_operand X>
    requires(std::is_arithmetic_v<S> || typed_operand<S>)
auto scalar_mul(const S& number, const X& x) {
    static_assert(is_scalar_operand<S>, "scalar_mul: the first operand must be one number: of the host, or of rank 0");
    return number * x;
}

}} // namespace rill::RILL_ABI
