// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/expr/apply.hpp>
#include <rill/ops/math/div.hpp>
#include <rill/ops/math/neg.hpp>

namespace rill { inline namespace RILL_ABI {

/// 1 / x. Shape: that of x. Gradient: -g conj(y)^2.
struct reciprocal_op {
    static constexpr auto name = "Reciprocal";
    using domain_type = domains::floating;
    using compiled_types = types::common;
    template <class V> RILL_FN static auto value(const V& x) { return V(1) / x; }
    template <class V> RILL_FN static auto pullback(const V& y, const V& g) { return -g * conj(y) * conj(y); }
};

template <elementwise_operand X> RILL_FRONT auto reciprocal(const X& x) { return apply<reciprocal_op>(x); }

}} // namespace rill::RILL_ABI
