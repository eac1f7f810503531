// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>

#include <rill/expr/apply.hpp>
#include <rill/ops/math/conj.hpp>
#include <rill/ops/math/mul.hpp>

namespace rill { inline namespace RILL_ABI {

/// 1 / sqrt(x). Shape: that of x. Gradient: -g conj(y)^3 / 2.
struct rsqrt_op {
    static constexpr auto name = "Rsqrt";
    using domain_type = domains::floating;
    using compiled_types = types::common;
    template <class T> RILL_FN static T scalar(const T& x) { return T(1) / std::sqrt(x); }
    template <class R> RILL_FN static auto registers(const R& x) -> decltype(rsqrt(x)) { return rsqrt(x); }
    template <class V> RILL_FN static auto pullback(const V& y, const V& g) {
        return V(-0.5) * g * conj(y) * conj(y) * conj(y);
    }
};

template <elementwise_operand X> RILL_FRONT auto rsqrt(const X& x) { return apply<rsqrt_op>(x); }

}} // namespace rill::RILL_ABI
