// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/math/div.hpp>
#include <rill/ops/math/equal.hpp>
#include <rill/ops/math/select.hpp>

namespace rill { inline namespace RILL_ABI {

/// a / b, or 0 where a is 0, even if b is 0. Shape: a and b broadcast. Gradient: g / b and -g a / b^2, both 0 where a is 0. Complex
/// operands are conjugated.
struct xdivy_op {
    static constexpr auto name = "Xdivy";
    using domain_type = domains::floating;
    using compiled_types = types::common;
    template <class V> RILL_FN static auto value(const V& a, const V& b) { return select(equal(a, V(0)), V(0), a / b); }
    template <class V> RILL_FN static auto pullback(const V& a, const V& b, const V& y, const V& g) {
        return adjoints<V, V>(select(equal(a, V(0)), V(0), g / conj(b)),
                              select(equal(a, V(0)), V(0), -(g * conj(y)) / conj(b)));
    }
};

template <class A, class B>
    requires elementwise_pair<A, B>
RILL_FRONT auto xdivy(const A& a, const B& b) {
    static_assert(dtypes_agree<dtype_tag<A>, dtype_tag<B>>, "xdivy: the dtypes differ; convert with cast<T>()");
    static_assert(shapes_broadcast<extents_of<A>, extents_of<B>>, "xdivy: the shapes do not broadcast");
    return apply<xdivy_op>(a, b);
}

}} // namespace rill::RILL_ABI
