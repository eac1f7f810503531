// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/expr/apply.hpp>
#include <rill/ops/math/conj.hpp>
#include <rill/ops/math/mul.hpp>
#include <rill/ops/math/neg.hpp>

namespace rill { inline namespace RILL_ABI {

/// a / b. Integers are rounded towards zero, and an integer division by zero fails the run. Shape: a and b broadcast. Gradient: g / conj(b)
/// and -g conj(y) / conj(b).
struct div_op {
    static constexpr auto name = "Div";
    using domain_type = domains::numeric;
    using compiled_types = types::common;
    static constexpr bool divides = true;
    template <class V> RILL_FN static auto value(const V& a, const V& b) { return a / b; }
    template <class V> RILL_FN static auto pullback(const V&, const V& b, const V& y, const V& g) {
        return adjoints<V, V>(g / conj(b), -(g * conj(y)) / conj(b));
    }
};

template <class A, class B>
    requires elementwise_pair<A, B>
RILL_FRONT auto div(const A& a, const B& b) {
    static_assert(dtypes_agree<dtype_tag<A>, dtype_tag<B>>, "div: the dtypes differ; convert with cast<T>()");
    static_assert(shapes_broadcast<extents_of<A>, extents_of<B>>, "div: the shapes do not broadcast");
    return apply<div_op>(a, b);
}
template <class A, class B>
    requires operator_pair<A, B>
constexpr auto operator/(const A& a, const B& b) {
    return div(a, b);
}

}} // namespace rill::RILL_ABI
