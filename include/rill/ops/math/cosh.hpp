// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>

#include <rill/expr/apply.hpp>
#include <rill/ops/math/conj.hpp>
#include <rill/ops/math/mul.hpp>

namespace rill { inline namespace RILL_ABI {

/// Hyperbolic cosine. Shape: that of x. Gradient: g conj(sinh(x)).
struct cosh_op {
    static constexpr auto name = "Cosh";
    using domain_type = domains::floating;
    using compiled_types = types::floats;
    template <class T> RILL_FN static T scalar(const T& x) { return std::cosh(x); }
    template <class V> RILL_FN static auto pullback(const V& x, const V&, const V& g) { return g * conj(sinh(x)); }
};

template <elementwise_operand X> RILL_FRONT auto cosh(const X& x) { return apply<cosh_op>(x); }

}} // namespace rill::RILL_ABI

#include <rill/ops/math/sinh.hpp> // its pullback uses sinh: included at the foot, since each needs the other
