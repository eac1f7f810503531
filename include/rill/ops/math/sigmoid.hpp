// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/expr/apply.hpp>
#include <rill/ops/math/conj.hpp>
#include <rill/ops/math/exp.hpp>
#include <rill/ops/math/mul.hpp>
#include <rill/ops/math/sub.hpp>

namespace rill { inline namespace RILL_ABI {

/// 1 / (1 + e^-x). Shape: that of x. Gradient: g conj(y (1 - y)).
struct sigmoid_op {
    static constexpr auto name = "Sigmoid";
    using domain_type = domains::floating;
    using compiled_types = types::common;
    template <class V> RILL_FN static auto value(const V& x) { return V(1) / (V(1) + exp(-x)); }
    template <class V> RILL_FN static auto pullback(const V& y, const V& g) { return g * conj(y) * conj(V(1) - y); }
};

template <elementwise_operand X> RILL_FRONT auto sigmoid(const X& x) { return apply<sigmoid_op>(x); }

}} // namespace rill::RILL_ABI
