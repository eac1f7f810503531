// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/device/elementary.hpp>
#include <rill/expr/apply.hpp>
#include <rill/ops/math/div.hpp>

namespace rill { inline namespace RILL_ABI {

/// Natural logarithm. It is -infinity at 0 and NaN below 0. Accurate to 2 ulp for float and double. Shape: that of x. Gradient: g /
/// conj(x).
struct log_op : elementary::log_function {
    static constexpr auto name = "Log";
    using domain_type = domains::floating;
    using compiled_types = types::common;
    template <class V> RILL_FN static auto pullback(const V& x, const V&, const V& g) { return g / conj(x); }
};

template <elementwise_operand X> RILL_FRONT auto log(const X& x) { return apply<log_op>(x); }

}} // namespace rill::RILL_ABI
