// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>

#include <rill/expr/apply.hpp>
#include <rill/ops/math/conj.hpp>
#include <rill/ops/math/mul.hpp>
#include <rill/ops/math/sub.hpp>

namespace rill { inline namespace RILL_ABI {

/// Hyperbolic tangent. Accurate to 2 ulp for float and double. Shape: that of x. Gradient: g conj(1 - tanh(x)^2).
struct tanh_op {
    static constexpr auto name = "Tanh";
    using domain_type = domains::floating;
    using compiled_types = types::common;
    template <class T> RILL_FN static T scalar(const T& x) { return std::tanh(x); }
    template <class R> RILL_FN static auto registers(const R& x) -> decltype(tanh(x)) { return tanh(x); }
    template <class V> RILL_FN static auto pullback(const V& y, const V& g) { return g * conj(V(1) - y * y); }
};

template <elementwise_operand X> RILL_FRONT auto tanh(const X& x) { return apply<tanh_op>(x); }

}} // namespace rill::RILL_ABI
