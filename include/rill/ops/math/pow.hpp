// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/expr/apply.hpp>
#include <rill/ops/math/greater.hpp>
#include <rill/ops/math/log.hpp>
#include <rill/ops/math/mul.hpp>
#include <rill/ops/math/select.hpp>
#include <rill/ops/math/sub.hpp>

namespace rill::inline RILL_ABI {

/// a to the power b. Shape: a and b broadcast. Gradient: g b a^(b-1) and g y log(a) (0 where a <= 0).
struct pow_op {
    static constexpr auto name = "Pow";
    using domain_type = domains::real_floating;
    template <class V> RILL_FN static auto value(const V& a, const V& b) { return pow(a, b); }
    template <class V> RILL_FN static auto pullback(const V& a, const V& b, const V& y, const V& g) {
        return adjoints<V, V>(g * b * pow(a, b - V(1)), g * y * select(a > V(0), log(a), V(0)));
    }
};

template <class A, class B>
    requires elementwise_pair<A, B>
auto pow(const A& a, const B& b) {
    static_assert(dtypes_agree<dtype_tag<A>, dtype_tag<B>>, "pow: the dtypes differ; convert with cast<T>()");
    static_assert(shapes_broadcast<extents_of<A>, extents_of<B>>, "pow: the shapes do not broadcast");
    return apply<pow_op>(a, b);
}

} // namespace rill::inline RILL_ABI
