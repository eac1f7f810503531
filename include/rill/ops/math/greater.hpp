// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/expr/apply.hpp>

namespace rill { inline namespace RILL_ABI {

/// a > b, as bool. Shape: a and b broadcast. No gradient: the result is bool.
struct greater_op {
    static constexpr auto name = "Greater";
    static constexpr int cost = 1;
    using domain_type = domains::real;
    using compiled_types = types::common;
    using result_type = bool;
    template <class V> RILL_FN static auto value(const V& a, const V& b) { return a > b; }
};

template <class A, class B>
    requires elementwise_pair<A, B>
RILL_FRONT auto greater(const A& a, const B& b) {
    static_assert(dtypes_agree<dtype_tag<A>, dtype_tag<B>>, "greater: the dtypes differ; convert with cast<T>()");
    static_assert(shapes_broadcast<extents_of<A>, extents_of<B>>, "greater: the shapes do not broadcast");
    return apply<greater_op>(a, b);
}
template <class A, class B>
    requires operator_pair<A, B>
constexpr auto operator>(const A& a, const B& b) {
    return greater(a, b);
}

}} // namespace rill::RILL_ABI
