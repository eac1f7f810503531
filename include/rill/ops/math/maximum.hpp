// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/expr/apply.hpp>
#include <rill/ops/math/greater_equal.hpp>
#include <rill/ops/math/select.hpp>

namespace rill { inline namespace RILL_ABI {

/// The larger of a and b; NaN if either is NaN. Shape: a and b broadcast. Gradient: to a where a >= b, else to b.
struct maximum_op {
    static constexpr auto name = "Maximum";
    static constexpr int cost = 1;
    using domain_type = domains::real;
    using compiled_types = types::common;
    template <class V> RILL_FN static auto value(const V& a, const V& b) { return max(a, b); }
    template <class V> RILL_FN static auto pullback(const V& a, const V& b, const V&, const V& g) {
        return adjoints<V, V>(select(a >= b, g, V(0)), select(a >= b, V(0), g));
    }
};

template <class A, class B>
    requires elementwise_pair<A, B>
RILL_FRONT auto maximum(const A& a, const B& b) {
    static_assert(dtypes_agree<dtype_tag<A>, dtype_tag<B>>, "maximum: the dtypes differ; convert with cast<T>()");
    static_assert(shapes_broadcast<extents_of<A>, extents_of<B>>, "maximum: the shapes do not broadcast");
    return apply<maximum_op>(a, b);
}

}} // namespace rill::RILL_ABI
