// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <limits>

#include <rill/expr/apply.hpp>
#include <rill/ops/math/abs.hpp>

namespace rill { inline namespace RILL_ABI {

/// True where x is infinite, as bool. Shape: that of x. No gradient: the result is bool.
struct is_inf_op {
    static constexpr auto name = "IsInf";
    using domain_type = domains::real_floating;
    using compiled_types = types::floats;
    static constexpr int cost = 1;
    using result_type = bool;
    template <class V> RILL_FN static auto value(const V& x) {
        return abs(x) == V(std::numeric_limits<double>::infinity());
    }
};

template <elementwise_operand X> RILL_FRONT auto is_inf(const X& x) { return apply<is_inf_op>(x); }

}} // namespace rill::RILL_ABI
