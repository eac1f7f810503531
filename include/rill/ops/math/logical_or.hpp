// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/expr/apply.hpp>

namespace rill { inline namespace RILL_ABI {

/// Logical a or b. Shape: a and b broadcast. Operands: bool. No gradient.
struct logical_or_op {
    static constexpr auto name = "LogicalOr";
    static constexpr int cost = 1;
    using domain_type = domains::boolean;
    using compiled_types = types::common;
    template <class V, class W> RILL_FN static auto value(const V& a, const W& b) { return a || b; }
};

template <class A, class B>
    requires elementwise_pair<A, B>
RILL_FRONT auto logical_or(const A& a, const B& b) {
    static_assert(dtypes_agree<dtype_tag<A>, dtype_tag<B>>, "logical_or: the dtypes differ; convert with cast<T>()");
    static_assert(shapes_broadcast<extents_of<A>, extents_of<B>>, "logical_or: the shapes do not broadcast");
    return apply<logical_or_op>(a, b);
}

}} // namespace rill::RILL_ABI
