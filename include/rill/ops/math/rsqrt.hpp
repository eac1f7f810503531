// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/expr/apply.hpp>
#include <rill/ops/math/mul.hpp>

namespace rill::inline RILL_ABI {

/// 1 / sqrt(x). Shape: that of x. Gradient: -g y^3 / 2.
struct rsqrt_op {
    static constexpr auto name = "Rsqrt";
    using domain_type = domains::real_floating;
    template <class V> RILL_FN static auto value(const V& x) { return rsqrt(x); }
    template <class V> RILL_FN static auto pullback(const V&, const V& y, const V& g) {
        return V(-0.5) * g * y * y * y;
    }
};

template <elementwise_operand X> auto rsqrt(const X& x) { return apply<rsqrt_op>(x); }

} // namespace rill::inline RILL_ABI
