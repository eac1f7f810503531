// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>

#include <rill/expr/apply.hpp>
#include <rill/ops/math/add.hpp>
#include <rill/ops/math/conj.hpp>
#include <rill/ops/math/mul.hpp>

namespace rill { inline namespace RILL_ABI {

/// Tangent of x in radians. Accurate to 4 ulp for float and double. Shape: that of x. Gradient: g conj(1 + tan(x)^2).
struct tan_op {
    static constexpr auto name = "Tan";
    using domain_type = domains::floating;
    using compiled_types = types::common;
    template <class T> RILL_FN static T scalar(const T& x) { return std::tan(x); }
    template <class R> RILL_FN static auto registers(const R& x) -> decltype(tan(x)) { return tan(x); }
    template <class V> RILL_FN static auto pullback(const V& y, const V& g) { return g * conj(V(1) + y * y); }
};

template <elementwise_operand X> RILL_FRONT auto tan(const X& x) { return apply<tan_op>(x); }

}} // namespace rill::RILL_ABI
