// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/expr/node_op.hpp>
#include <rill/ops/array/fill.hpp>

namespace rill { inline namespace RILL_ABI {

/// Returns zeros of the type and shape of x. The values of x are not read. No gradient flows.
template <graph_operand X> auto zeros_like(const X& x) {
    if constexpr (typed_operand<X>)
        static_assert(has_zero_and_one<value_type_of<X>>, "zeros_like: the element type is not a number");
    detail::require_fused();
    const endpoint made = detail::filled_like(detail::seal(x), 0);
    if constexpr (typed_operand<X>)
        return tensor_of<value_type_of<X>, extents_of<X>>(detail::unchecked, any_tensor(made));
    else
        return any_tensor(made);
}

}} // namespace rill::RILL_ABI
