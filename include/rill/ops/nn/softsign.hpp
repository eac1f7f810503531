// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <limits>

#include <rill/ops/math/abs.hpp>
#include <rill/ops/math/add.hpp>
#include <rill/ops/math/div.hpp>
#include <rill/ops/nn/clip.hpp>

// An expression of other ops. Argument-dependent lookup finds it, but a using-directive does not. Programs can therefore
// name their own ops softsign.

namespace rill { inline namespace RILL_ABI { namespace detail {

/// Returns the largest finite number of a floating type.
constexpr double largest_number(dtype type) {
    switch (type) {
    case dtype::float64: return std::numeric_limits<double>::max();
    case dtype::half: return 65504;
    case dtype::bfloat16: return 0x1.fep127;
    default: return double{std::numeric_limits<float>::max()};
    }
}

namespace refused {

/// Computes x / (1 + |x|). The result for infinite x is 1 or -1. Shape: that of x. Gradient: g / (1 + |x|)^2.
template <graph_operand X> auto softsign(const X& x) {
    if constexpr (typed_operand<X>)
        static_assert(is_real_floating<value_type_of<X>>, "softsign: the element type is not floating");
    const double most = largest_number(operand_type(x).type);
    // Infinity divided by infinity would give NaN.
    const auto finite = clip(x, -most, most);
    return finite / (1.0 + abs(finite));
}

} // namespace refused
}}} // namespace rill::RILL_ABI::detail
