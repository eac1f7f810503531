// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/expr/apply.hpp>
#include <rill/ops/math/add.hpp>
#include <rill/ops/math/mul.hpp>

namespace rill { inline namespace RILL_ABI {

/// x * x. Shape: that of x. Gradient: 2 g conj(x).
struct square_op {
    static constexpr auto name = "Square";
    static constexpr int cost = 1;
    using domain_type = domains::numeric;
    using compiled_types = types::common;
    template <class V> RILL_FN static auto value(const V& x) { return x * x; }
    template <class V> RILL_FN static auto pullback(const V& x, const V&, const V& g) { return (g + g) * conj(x); }
};

template <elementwise_operand X> RILL_FRONT auto square(const X& x) { return apply<square_op>(x); }

}} // namespace rill::RILL_ABI
