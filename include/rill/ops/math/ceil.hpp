// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>

#include <rill/expr/apply.hpp>
#include <rill/ops/math/mul.hpp>

namespace rill { inline namespace RILL_ABI {

/// The smallest integer that is at least x. Shape: that of x. Gradient: 0 for any g.
struct ceil_op {
    static constexpr auto name = "Ceil";
    using domain_type = domains::real_floating;
    using compiled_types = types::common;
    template <class T> RILL_FN static T scalar(const T& x) { return std::ceil(x); }
    template <class R> RILL_FN static auto registers(const R& x) -> decltype(ceil(x)) { return ceil(x); }
    template <class V> RILL_FN static auto pullback(const V&) { return V(0); }
};

template <elementwise_operand X> RILL_FRONT auto ceil(const X& x) { return apply<ceil_op>(x); }

}} // namespace rill::RILL_ABI
