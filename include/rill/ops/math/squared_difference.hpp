// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/expr/apply.hpp>
#include <rill/ops/math/add.hpp>
#include <rill/ops/math/conj.hpp>
#include <rill/ops/math/mul.hpp>
#include <rill/ops/math/neg.hpp>
#include <rill/ops/math/sub.hpp>

namespace rill { inline namespace RILL_ABI {

/// (a - b)^2; for complex numbers |a - b|^2. Shape: a and b broadcast. Gradient: 2 g (a - b) and its negative; for
/// complex numbers with the real part of g.
struct squared_difference_op {
    static constexpr auto name = "SquaredDifference";
    using domain_type = domains::numeric;
    using compiled_types = types::common;
    static constexpr int cost = 2;
    template <class V> RILL_FN static auto value(const V& a, const V& b) {
        const V d = a - b;
        return d * conj(d);
    }
    template <class V> RILL_FN static auto pullback(const V& a, const V& b, const V&, const V& g) {
        const V to_a = (g + conj(g)) * (a - b);
        return adjoints<V, V>(to_a, -to_a);
    }
};

template <class A, class B>
    requires elementwise_pair<A, B>
RILL_FRONT auto squared_difference(const A& a, const B& b) {
    static_assert(dtypes_agree<dtype_tag<A>, dtype_tag<B>>,
                  "squared_difference: the dtypes differ; convert with cast<T>()");
    static_assert(shapes_broadcast<extents_of<A>, extents_of<B>>, "squared_difference: the shapes do not broadcast");
    return apply<squared_difference_op>(a, b);
}

}} // namespace rill::RILL_ABI
