// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <type_traits>

#include <rill/expr/apply.hpp>
#include <rill/ops/math/add.hpp>
#include <rill/ops/math/cast.hpp>
#include <rill/ops/math/conj.hpp>
#include <rill/ops/math/mul.hpp>
#include <rill/ops/math/rsqrt.hpp>

namespace rill { inline namespace RILL_ABI {

/// Inverse hyperbolic sine. Shape: that of x. Gradient: g / conj(sqrt(1 + x^2)).
struct asinh_op {
    static constexpr auto name = "Asinh";
    using domain_type = domains::floating;
    using compiled_types = types::floats;
    template <class T> RILL_FN static T scalar(const T& x) { return std::asinh(x); }
    template <class V> RILL_FN static auto pullback(const V& x, const V&, const V& g) {
        if constexpr (std::is_same_v<typename V::value_type, half>) { // squares of half overflow from 256 on
            const auto wide = cast_to<float>(x);
            return cast_to<half>(cast_to<float>(g) * rsqrt(decltype(wide)(1) + wide * wide));
        } else {
            return g * conj(rsqrt(V(1) + x * x));
        }
    }
};

template <elementwise_operand X> RILL_FRONT auto asinh(const X& x) { return apply<asinh_op>(x); }

}} // namespace rill::RILL_ABI
