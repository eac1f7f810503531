// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/device/elementary.hpp>
#include <rill/expr/apply.hpp>
#include <rill/ops/math/add.hpp>
#include <rill/ops/math/div.hpp>

namespace rill { inline namespace RILL_ABI {

/// Square root. Below 0 it is NaN. Shape: that of x. Gradient: g / (2 conj(sqrt(x))).
struct sqrt_op : elementary::sqrt_function {
    static constexpr auto name = "Sqrt";
    using domain_type = domains::floating;
    using compiled_types = types::common;
    template <class V> RILL_FN static auto pullback(const V& y, const V& g) { return g / (conj(y) + conj(y)); }
};

template <elementwise_operand X> RILL_FRONT auto sqrt(const X& x) { return apply<sqrt_op>(x); }

}} // namespace rill::RILL_ABI
