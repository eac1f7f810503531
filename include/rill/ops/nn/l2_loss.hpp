// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/math/mul.hpp>
#include <rill/ops/math/reduce_sum.hpp>
#include <rill/ops/math/square.hpp>

namespace rill { inline namespace RILL_ABI {

/// Computes half the sum of the squares of all elements, in one pass: a scalar. Gradient: g x.
template <graph_operand X>
auto l2_loss(const X& x, const std::source_location& where = std::source_location::current()) {
    if constexpr (typed_operand<X>)
        static_assert(is_real_floating<value_type_of<X>>, "l2_loss: the element type is not floating");
    return reduce_sum(0.5 * square(x), where);
}

}} // namespace rill::RILL_ABI
