// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>

#include <rill/expr/apply.hpp>
#include <rill/ops/math/conj.hpp>
#include <rill/ops/math/mul.hpp>
#include <rill/ops/math/neg.hpp>
#include <rill/ops/math/rsqrt.hpp>
#include <rill/ops/math/sub.hpp>

namespace rill { inline namespace RILL_ABI {

/// Inverse cosine, in radians. Real numbers outside [-1, 1] give NaN. Shape: that of x. Gradient: -g / conj(sqrt(1 -
/// x^2)).
struct acos_op {
    static constexpr auto name = "Acos";
    using domain_type = domains::floating;
    using compiled_types = types::floats;
    template <class T> RILL_FN static T scalar(const T& x) { return std::acos(x); }
    template <class V> RILL_FN static auto pullback(const V& x, const V&, const V& g) {
        const V z = conj(x); // before the root: on the branch cut, the sign of zero selects the branch
        return -(g * rsqrt(V(1) - z * z));
    }
};

template <elementwise_operand X> RILL_FRONT auto acos(const X& x) { return apply<acos_op>(x); }

}} // namespace rill::RILL_ABI
