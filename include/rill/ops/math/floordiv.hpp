// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/expr/apply.hpp>
#include <rill/ops/math/div.hpp>
#include <rill/ops/math/floor.hpp>
#include <rill/ops/math/mul.hpp>
#include <rill/ops/math/select.hpp>
#include <rill/ops/math/sub.hpp>

namespace rill { inline namespace RILL_ABI {

/// The largest integer not above a / b; of integers by zero an error at run time. Shape: a and b broadcast.
/// Gradient: 0, whatever comes from above.
struct floordiv_op {
    static constexpr auto name = "FloorDiv";
    using domain_type = domains::real;
    using compiled_types = types::common;
    static constexpr bool divides = true;
    template <class V> RILL_FN static auto value(const V& a, const V& b) {
        const V q = a / b;
        if constexpr (is_integral<typename V::value_type>) // that quotient is cut towards zero
            return select(q * b != a && (a < V(0)) != (b < V(0)), q - V(1), q);
        else
            return floor(q);
    }
    template <class V> RILL_FN static auto pullback(const V&) { return adjoints<V, V>(V(0), V(0)); }
};

template <class A, class B>
    requires elementwise_pair<A, B>
RILL_FN auto floordiv(const A& a, const B& b) {
    static_assert(dtypes_agree<dtype_tag<A>, dtype_tag<B>>, "floordiv: the dtypes differ; convert with cast<T>()");
    static_assert(shapes_broadcast<extents_of<A>, extents_of<B>>, "floordiv: the shapes do not broadcast");
    return apply<floordiv_op>(a, b);
}
/// TensorFlow's other name.
template <class A, class B>
    requires elementwise_pair<A, B>
RILL_FN auto floor_div(const A& a, const B& b) {
    return floordiv(a, b);
}

}} // namespace rill::RILL_ABI
