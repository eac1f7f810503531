// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/math/div.hpp>
#include <rill/ops/math/equal.hpp>
#include <rill/ops/math/log.hpp>
#include <rill/ops/math/select.hpp>

namespace rill { inline namespace RILL_ABI {

/// a log(b), or 0 where a is 0, even if the logarithm is infinite. Shape: a and b broadcast. Gradient: g log(b) and g a / b, both 0 where a
/// is 0. Complex operands are conjugated.
struct xlogy_op {
    static constexpr auto name = "Xlogy";
    using domain_type = domains::floating;
    using compiled_types = types::common;
    template <class V> RILL_FN static auto value(const V& a, const V& b) {
        return select(equal(a, V(0)), V(0), a * log(b));
    }
    template <class V> RILL_FN static auto pullback(const V& a, const V& b, const V&, const V& g) {
        return adjoints<V, V>(select(equal(a, V(0)), V(0), g * conj(log(b))),
                              select(equal(a, V(0)), V(0), g * conj(a / b)));
    }
};

template <class A, class B>
    requires elementwise_pair<A, B>
RILL_FRONT auto xlogy(const A& a, const B& b) {
    static_assert(dtypes_agree<dtype_tag<A>, dtype_tag<B>>, "xlogy: the dtypes differ; convert with cast<T>()");
    static_assert(shapes_broadcast<extents_of<A>, extents_of<B>>, "xlogy: the shapes do not broadcast");
    return apply<xlogy_op>(a, b);
}

}} // namespace rill::RILL_ABI
