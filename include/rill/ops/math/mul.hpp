// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/expr/apply.hpp>
#include <rill/ops/math/conj.hpp>

namespace rill { inline namespace RILL_ABI {

/// a * b. Shape: a and b broadcast. Gradient: g conj(b) and g conj(a).
struct mul_op {
    static constexpr auto name = "Mul";
    static constexpr int cost = 1;
    using domain_type = domains::numeric;
    using compiled_types = types::common;
    template <class V> RILL_FN static auto value(const V& a, const V& b) { return a * b; }
    template <class V> RILL_FN static auto pullback(const V& a, const V& b, const V&, const V& g) {
        return adjoints<V, V>(g * conj(b), g * conj(a));
    }
};

template <class A, class B>
    requires elementwise_pair<A, B>
RILL_FRONT auto mul(const A& a, const B& b) {
    static_assert(dtypes_agree<dtype_tag<A>, dtype_tag<B>>, "mul: the dtypes differ; convert with cast<T>()");
    static_assert(shapes_broadcast<extents_of<A>, extents_of<B>>, "mul: the shapes do not broadcast");
    return apply<mul_op>(a, b);
}
template <class A, class B>
    requires operator_pair<A, B>
constexpr auto operator*(const A& a, const B& b) {
    return mul(a, b);
}

}} // namespace rill::RILL_ABI
