// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/math/greater.hpp>
#include <rill/ops/math/less.hpp>
#include <rill/ops/math/select.hpp>

namespace rill { inline namespace RILL_ABI {

/// Clips x to bounds: min(max(x, low), high). Shape: all three broadcast. Gradient: g to x where it lies within the bounds or
/// on them. Elsewhere g goes to the active bound.
struct clip_op {
    static constexpr auto name = "Clip";
    using domain_type = domains::real;
    using compiled_types = types::common;
    template <class V> RILL_FN static auto value(const V& x, const V& low, const V& high) {
        return min(max(x, low), high);
    }
    template <class V> RILL_FN static auto pullback(const V& x, const V& low, const V& high, const V&, const V& g) {
        // The upper bound is applied last, which matters if low > high.
        const V below = select(x < low, g, V(0));
        return adjoints<V, V, V>(select(x > high, V(0), select(x < low, V(0), g)), select(low > high, V(0), below),
                                 select(x > high, g, select(low > high, below, V(0))));
    }
};

/// Clips x: clip(x, 0.f, 1.f). The bounds may be tensors.
template <class X, class A, class B>
    requires(elementwise_operand<X> && (elementwise_operand<A> || literal<A>) && (elementwise_operand<B> || literal<B>))
RILL_FRONT auto clip(const X& x, const A& low, const B& high) {
    static_assert(dtypes_agree<dtype_tag<X>, dtype_tag<A>> && dtypes_agree<dtype_tag<X>, dtype_tag<B>>,
                  "clip: the dtypes differ; convert with cast<T>()");
    static_assert(shapes_broadcast<extents_of<X>, extents_of<A>> && shapes_broadcast<extents_of<X>, extents_of<B>>,
                  "clip: the shapes do not broadcast");
    return apply<clip_op>(x, low, high);
}

}} // namespace rill::RILL_ABI
