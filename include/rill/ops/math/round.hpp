// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>

#include <rill/expr/apply.hpp>

namespace rill { inline namespace RILL_ABI {

/// The nearest integer, with ties to even: round(2.5) is 2. Integers are unchanged. Shape: that of x. Gradient: 0 for
/// any g.
struct round_op {
    static constexpr auto name = "Round";
    using domain_type = domains::real;
    using compiled_types = types::common;
    template <class T> RILL_FN static T scalar(const T& x) {
        if constexpr (is_integral<T>)
            return x;
        else
            return std::nearbyint(x);
    }
    template <class V> RILL_FN static auto pullback(const V&) { return V(0); }
};

template <elementwise_operand X> RILL_FRONT auto round(const X& x) { return apply<round_op>(x); }

}} // namespace rill::RILL_ABI
