// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/expr/apply.hpp>

namespace rill { inline namespace RILL_ABI {

/// Logical a and b. Shape: a and b broadcast. Operands: bool. No gradient.
struct logical_and_op {
    static constexpr auto name = "LogicalAnd";
    static constexpr int cost = 1;
    using domain_type = domains::boolean;
    using compiled_types = types::common;
    template <class V, class W> RILL_FN static auto value(const V& a, const W& b) { return a && b; }
};

template <class A, class B>
    requires elementwise_pair<A, B>
RILL_FRONT auto logical_and(const A& a, const B& b) {
    static_assert(dtypes_agree<dtype_tag<A>, dtype_tag<B>>, "logical_and: the dtypes differ; convert with cast<T>()");
    static_assert(shapes_broadcast<extents_of<A>, extents_of<B>>, "logical_and: the shapes do not broadcast");
    return apply<logical_and_op>(a, b);
}

}} // namespace rill::RILL_ABI
