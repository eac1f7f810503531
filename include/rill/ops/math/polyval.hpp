// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/math/add.hpp>
#include <rill/ops/math/mul.hpp>

namespace rill { inline namespace RILL_ABI {

namespace detail {

template <class X, class P> auto horner(const X&, const P& value) { return value; }
template <class X, class P, class... C> auto horner(const X& x, const P& value, double next, C... more) {
    return horner(x, value * x + next, more...);
}

} // namespace detail

/// Returns a polynomial as one expression, with coefficients from the highest power down: polyval(x, 2, 0, 1) is 2 x^2
/// + 1.
template <graph_operand X, class... C>
    requires(std::is_arithmetic_v<C> && ...)
auto polyval(const X& x, double highest, double next, C... more) {
    return detail::horner(x, highest * x + next, static_cast<double>(more)...);
}

}} // namespace rill::RILL_ABI
