// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/device/elementary.hpp>
#include <rill/expr/apply.hpp>
#include <rill/ops/math/conj.hpp>
#include <rill/ops/math/mul.hpp>

namespace rill { inline namespace RILL_ABI {

/// Sine of x in radians. Accurate to 2 ulp for float and double. Shape: that of x. Gradient: g conj(cos(x)).
struct sin_op : elementary::sin_function {
    static constexpr auto name = "Sin";
    using domain_type = domains::floating;
    using compiled_types = types::common;
    template <class V> RILL_FN static auto pullback(const V& x, const V&, const V& g) { return g * conj(cos(x)); }
};

template <elementwise_operand X> RILL_FRONT auto sin(const X& x) { return apply<sin_op>(x); }

}} // namespace rill::RILL_ABI

#include <rill/ops/math/cos.hpp> // its pullback uses cos: included at the foot, since each needs the other
