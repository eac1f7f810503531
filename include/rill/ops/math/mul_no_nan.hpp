// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/math/conj.hpp>
#include <rill/ops/math/equal.hpp>
#include <rill/ops/math/mul.hpp>
#include <rill/ops/math/select.hpp>

namespace rill { inline namespace RILL_ABI {

/// a b, or 0 where b is 0, even if a is infinite or NaN. Shape: a and b broadcast. Gradient: g conj(b), 0 where b is 0; g conj(a), 0 where
/// g is 0.
struct mul_no_nan_op {
    static constexpr auto name = "MulNoNan";
    using domain_type = domains::floating;
    using compiled_types = types::common;
    template <class V> RILL_FN static auto value(const V& a, const V& b) { return select(equal(b, V(0)), V(0), a * b); }
    template <class V> RILL_FN static auto pullback(const V& a, const V& b, const V&, const V& g) {
        return adjoints<V, V>(select(equal(b, V(0)), V(0), g * conj(b)), select(equal(g, V(0)), V(0), conj(a) * g));
    }
};

template <class A, class B>
    requires elementwise_pair<A, B>
RILL_FRONT auto mul_no_nan(const A& a, const B& b) {
    static_assert(dtypes_agree<dtype_tag<A>, dtype_tag<B>>, "mul_no_nan: the dtypes differ; convert with cast<T>()");
    static_assert(shapes_broadcast<extents_of<A>, extents_of<B>>, "mul_no_nan: the shapes do not broadcast");
    return apply<mul_no_nan_op>(a, b);
}

}} // namespace rill::RILL_ABI
