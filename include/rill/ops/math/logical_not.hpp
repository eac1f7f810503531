// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/expr/apply.hpp>

namespace rill { inline namespace RILL_ABI {

/// Logical negation of x. Shape: that of x. Operands: bool.
struct logical_not_op {
    static constexpr auto name = "LogicalNot";
    static constexpr int cost = 1;
    using domain_type = domains::boolean;
    using compiled_types = types::common;
    template <class V> RILL_FN static auto value(const V& x) { return !x; }
};

template <elementwise_operand X> RILL_FRONT auto logical_not(const X& x) { return apply<logical_not_op>(x); }

}} // namespace rill::RILL_ABI
