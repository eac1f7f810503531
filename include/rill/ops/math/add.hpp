// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/expr/apply.hpp>

namespace rill { inline namespace RILL_ABI {

/// a + b. Shape: a and b broadcast. Gradient: g to both.
struct add_op {
    static constexpr auto name = "Add";
    static constexpr int cost = 1;
    using domain_type = domains::numeric;
    using compiled_types = types::common;
    template <class V> RILL_FN static auto value(const V& a, const V& b) { return a + b; }
    template <class V> RILL_FN static auto pullback(const V& g) { return adjoints<V, V>(g, g); }
};

template <class A, class B>
    requires elementwise_pair<A, B>
RILL_FRONT auto add(const A& a, const B& b) {
    static_assert(dtypes_agree<dtype_tag<A>, dtype_tag<B>>, "add: the dtypes differ; convert with cast<T>()");
    static_assert(shapes_broadcast<extents_of<A>, extents_of<B>>, "add: the shapes do not broadcast");
    return apply<add_op>(a, b);
}
template <class A, class B>
    requires operator_pair<A, B>
constexpr auto operator+(const A& a, const B& b) {
    return add(a, b);
}

}} // namespace rill::RILL_ABI
