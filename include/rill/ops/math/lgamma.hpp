// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/device/elementary.hpp>
#include <rill/expr/apply.hpp>
#include <rill/ops/math/digamma.hpp>
#include <rill/ops/math/mul.hpp>

namespace rill { inline namespace RILL_ABI {

/// log(|gamma(x)|). At 0, -1, -2, … it is infinite. Shape: that of x. Gradient: g digamma(x).
struct lgamma_op {
    static constexpr auto name = "Lgamma";
    using domain_type = domains::real_floating;
    using compiled_types = types::floats;
    template <class T> RILL_FN static T scalar(const T& x) { return elementary::log_gamma_function::scalar(x); }
    template <class V> RILL_FN static auto pullback(const V& x, const V&, const V& g) { return g * digamma(x); }
};

template <elementwise_operand X> RILL_FRONT auto lgamma(const X& x) { return apply<lgamma_op>(x); }

}} // namespace rill::RILL_ABI
