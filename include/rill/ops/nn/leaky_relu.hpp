// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/math/greater.hpp>
#include <rill/ops/math/mul.hpp>
#include <rill/ops/math/select.hpp>

namespace rill { inline namespace RILL_ABI {

/// Computes x where x > 0, else slope * x. Shape: both broadcast. Gradient: g or slope g, and g x to the slope where x
/// <= 0.
struct leaky_relu_op {
    static constexpr auto name = "LeakyRelu";
    using domain_type = domains::real_floating;
    using compiled_types = types::common;
    template <class V> RILL_FN static auto value(const V& x, const V& slope) { return select(x > V(0), x, slope * x); }
    template <class V> RILL_FN static auto pullback(const V& x, const V& slope, const V&, const V& g) {
        return adjoints<V, V>(select(x > V(0), g, slope * g), select(x > V(0), V(0), g * x));
    }
};

/// Computes the leaky relu: leaky_relu(x, 0.2f). The slope may be a tensor, which can be trained.
template <class X, class A>
    requires(elementwise_operand<X> && (elementwise_operand<A> || literal<A>))
RILL_FRONT auto leaky_relu(const X& x, const A& slope) {
    static_assert(dtypes_agree<dtype_tag<X>, dtype_tag<A>>, "leaky_relu: the dtypes differ; convert with cast<T>()");
    static_assert(shapes_broadcast<extents_of<X>, extents_of<A>>, "leaky_relu: the shapes do not broadcast");
    return apply<leaky_relu_op>(x, slope);
}
template <elementwise_operand X> RILL_FRONT auto leaky_relu(const X& x) { return leaky_relu(x, 0.2); }

}} // namespace rill::RILL_ABI
