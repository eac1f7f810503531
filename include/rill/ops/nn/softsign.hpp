// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/math/abs.hpp>
#include <rill/ops/math/add.hpp>
#include <rill/ops/math/div.hpp>

// An expression of other ops, found by its operand, not by a using-directive: both leave its name to the ops of programs.

namespace rill { inline namespace RILL_ABI { namespace detail::refused {

/// x / (1 + |x|). Shape: that of x. Gradient: g / (1 + |x|)^2.
template <graph_operand X> auto softsign(const X& x) {
    if constexpr (typed_operand<X>)
        static_assert(is_real_floating<value_type_of<X>>, "softsign: the element type is not floating");
    return x / (1.0 + abs(x));
}

}}} // namespace rill::RILL_ABI::detail::refused
