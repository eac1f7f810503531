// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/expr/apply.hpp>
#include <rill/ops/math/sub.hpp>

namespace rill { inline namespace RILL_ABI {

/// True where x is neither infinite nor NaN, as bool. Shape: that of x. No gradient: the result is bool.
struct is_finite_op {
    static constexpr auto name = "IsFinite";
    using domain_type = domains::real_floating;
    using compiled_types = types::floats;
    static constexpr int cost = 1;
    using result_type = bool;
    template <class V> RILL_FN static auto value(const V& x) { return x - x == V(0); }
};

template <elementwise_operand X> RILL_FRONT auto is_finite(const X& x) { return apply<is_finite_op>(x); }

}} // namespace rill::RILL_ABI
