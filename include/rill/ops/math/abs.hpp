// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/expr/apply.hpp>
#include <rill/ops/math/mul.hpp>
#include <rill/ops/math/sign.hpp>

namespace rill::inline RILL_ABI {

/// |x|. Shape: that of x. Gradient: g sign(x).
struct abs_op {
    static constexpr auto name = "Abs";
    using domain_type = domains::real;
    template <class V> RILL_FN static auto value(const V& x) { return abs(x); }
    template <class V> RILL_FN static auto pullback(const V& x, const V&, const V& g) { return g * sign(x); }
};

template <elementwise_operand X> auto abs(const X& x) { return apply<abs_op>(x); }

} // namespace rill::inline RILL_ABI
