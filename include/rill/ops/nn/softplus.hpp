// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/expr/apply.hpp>
#include <rill/ops/math/abs.hpp>
#include <rill/ops/math/add.hpp>
#include <rill/ops/math/exp.hpp>
#include <rill/ops/math/log1p.hpp>
#include <rill/ops/math/mul.hpp>
#include <rill/ops/math/neg.hpp>
#include <rill/ops/math/sigmoid.hpp>

namespace rill { inline namespace RILL_ABI {

/// Computes log(1 + e^x), without overflow. Shape: that of x. Gradient: g sigmoid(x).
struct softplus_op {
    static constexpr auto name = "Softplus";
    using domain_type = domains::real_floating;
    using compiled_types = types::floats;
    template <class V> RILL_FN static auto value(const V& x) { return max(x, V(0)) + log1p(exp(-abs(x))); }
    template <class V> RILL_FN static auto pullback(const V& x, const V&, const V& g) { return g * sigmoid(x); }
};

template <elementwise_operand X, class... None>
    requires nothing_more<None...>
RILL_FRONT auto softplus(const X& x, const None&...) {
    return apply<softplus_op>(x);
}

}} // namespace rill::RILL_ABI
