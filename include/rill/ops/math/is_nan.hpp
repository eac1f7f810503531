// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/expr/apply.hpp>

namespace rill { inline namespace RILL_ABI {

/// True where x is NaN, as bool. Shape: that of x. No gradient: the result is bool.
struct is_nan_op {
    static constexpr auto name = "IsNan";
    using domain_type = domains::real_floating;
    using compiled_types = types::floats;
    static constexpr int cost = 1;
    using result_type = bool;
    template <class V> RILL_FN static auto value(const V& x) { return x != x; }
};

template <elementwise_operand X> RILL_FRONT auto is_nan(const X& x) { return apply<is_nan_op>(x); }

}} // namespace rill::RILL_ABI
