// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>

#include <rill/expr/apply.hpp>
#include <rill/ops/math/abs.hpp>
#include <rill/ops/math/add.hpp>
#include <rill/ops/math/div.hpp>
#include <rill/ops/math/equal.hpp>
#include <rill/ops/math/less_equal.hpp>
#include <rill/ops/math/mul.hpp>
#include <rill/ops/math/neg.hpp>
#include <rill/ops/math/select.hpp>

namespace rill { inline namespace RILL_ABI {

/// The angle of the point (b, a), in radians from -pi to pi: atan2(y, x). Shape: a and b broadcast. Gradient: g b / (a^2 + b^2) and -g a /
/// (a^2 + b^2), 0 if both are 0. The quotient of the smaller and the larger operand is used, so that no square overflows.
struct atan2_op {
    static constexpr auto name = "Atan2";
    using domain_type = domains::real_floating;
    using compiled_types = types::floats;
    template <class T> RILL_FN static T scalar(const T& a, const T& b) { return std::atan2(a, b); }
    template <class V> RILL_FN static auto pullback(const V& a, const V& b, const V&, const V& g) {
        const auto flat = abs(a) <= abs(b);
        const V larger = select(flat, b, a);
        const auto nowhere = equal(abs(a) + abs(b), V(0));
        const V by = select(nowhere, V(1), larger), ratio = select(flat, a, b) / by;
        const V share = select(nowhere, V(0), g / by / (V(1) + ratio * ratio)), less = share * ratio;
        return adjoints<V, V>(select(flat, share, less), -select(flat, less, share));
    }
};

template <class A, class B>
    requires elementwise_pair<A, B>
RILL_FRONT auto atan2(const A& a, const B& b) {
    static_assert(dtypes_agree<dtype_tag<A>, dtype_tag<B>>, "atan2: the dtypes differ; convert with cast<T>()");
    static_assert(shapes_broadcast<extents_of<A>, extents_of<B>>, "atan2: the shapes do not broadcast");
    return apply<atan2_op>(a, b);
}

}} // namespace rill::RILL_ABI
