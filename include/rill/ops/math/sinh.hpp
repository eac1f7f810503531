// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>

#include <rill/expr/apply.hpp>
#include <rill/ops/math/conj.hpp>
#include <rill/ops/math/mul.hpp>

namespace rill { inline namespace RILL_ABI {

/// Hyperbolic sine. Shape: that of x. Gradient: g conj(cosh(x)).
struct sinh_op {
    static constexpr auto name = "Sinh";
    using domain_type = domains::floating;
    using compiled_types = types::floats;
    template <class T> RILL_FN static T scalar(const T& x) { return std::sinh(x); }
    template <class V> RILL_FN static auto pullback(const V& x, const V&, const V& g) { return g * conj(cosh(x)); }
};

template <elementwise_operand X> RILL_FRONT auto sinh(const X& x) { return apply<sinh_op>(x); }

}} // namespace rill::RILL_ABI

#include <rill/ops/math/cosh.hpp> // its pullback uses cosh: included at the foot, since each needs the other
