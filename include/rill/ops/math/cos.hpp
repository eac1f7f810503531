// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/device/elementary.hpp>
#include <rill/expr/apply.hpp>
#include <rill/ops/math/conj.hpp>
#include <rill/ops/math/mul.hpp>
#include <rill/ops/math/neg.hpp>

namespace rill { inline namespace RILL_ABI {

/// Cosine of x in radians. Accurate to 2 ulp for float and double. Shape: that of x. Gradient: -g conj(sin(x)).
struct cos_op : elementary::cos_function {
    static constexpr auto name = "Cos";
    using domain_type = domains::floating;
    using compiled_types = types::common;
    template <class V> RILL_FN static auto pullback(const V& x, const V&, const V& g) { return -g * conj(sin(x)); }
};

template <elementwise_operand X> RILL_FRONT auto cos(const X& x) { return apply<cos_op>(x); }

}} // namespace rill::RILL_ABI

#include <rill/ops/math/sin.hpp> // its pullback uses sin: included at the foot, since each needs the other
