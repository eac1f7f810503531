// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/device/elementary.hpp>
#include <rill/expr/apply.hpp>
#include <rill/ops/math/conj.hpp>
#include <rill/ops/math/mul.hpp>

namespace rill { inline namespace RILL_ABI {

/// e^x. Accurate to 2 ulp for float and double. Shape: that of x. Gradient: g conj(e^x).
struct exp_op : elementary::exp_function {
    static constexpr auto name = "Exp";
    using domain_type = domains::floating;
    using compiled_types = types::common;
    template <class V> RILL_FN static auto pullback(const V& y, const V& g) { return g * conj(y); }
};

template <elementwise_operand X> RILL_FRONT auto exp(const X& x) { return apply<exp_op>(x); }

}} // namespace rill::RILL_ABI
