// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <complex>

#include <rill/expr/apply.hpp>
#include <rill/ops/math/add.hpp>
#include <rill/ops/math/conj.hpp>
#include <rill/ops/math/div.hpp>

namespace rill { inline namespace RILL_ABI {

/// log(1 + x), accurate near 0. Accurate to 2 ulp for float and double. Shape: that of x. Gradient: g / conj(1 + x).
struct log1p_op {
    static constexpr auto name = "Log1p";
    using domain_type = domains::floating;
    using compiled_types = types::common;
    template <class T> RILL_FN static T scalar(const T& x) {
        if constexpr (is_complex<T>) {
            const auto a = x.real(), b = x.imag();
            const bool small = std::abs(a) <= real_type<T>(0.5) && std::abs(b) <= real_type<T>(0.5);
            return small ? T(std::log1p(a * (2 + a) + b * b) / 2, std::atan2(b, 1 + a)) : std::log(T(1) + x);
        } else {
            return std::log1p(x);
        }
    }
    template <class R> RILL_FN static auto registers(const R& x) -> decltype(log1p(x)) { return log1p(x); }
    template <class V> RILL_FN static auto pullback(const V& x, const V&, const V& g) { return g / conj(V(1) + x); }
};

template <elementwise_operand X> RILL_FRONT auto log1p(const X& x) { return apply<log1p_op>(x); }

}} // namespace rill::RILL_ABI
