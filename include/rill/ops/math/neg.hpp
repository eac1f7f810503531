// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/expr/apply.hpp>

namespace rill { inline namespace RILL_ABI {

/// -x. Shape: that of x. Gradient: -g.
struct neg_op {
    static constexpr auto name = "Neg";
    static constexpr int cost = 1;
    using domain_type = domains::numeric;
    using compiled_types = types::common;
    template <class V> RILL_FN static auto value(const V& x) { return -x; }
    template <class V> RILL_FN static auto pullback(const V& g) { return -g; }
};

template <elementwise_operand X> RILL_FRONT auto neg(const X& x) { return apply<neg_op>(x); }
template <expression_operand X> constexpr auto operator-(const X& x) { return apply<neg_op>(x); }

}} // namespace rill::RILL_ABI
