// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>

#include <rill/expr/apply.hpp>
#include <rill/ops/math/floordiv.hpp>
#include <rill/ops/math/mul.hpp>
#include <rill/ops/math/neg.hpp>

namespace rill { inline namespace RILL_ABI {

/// The remainder a - floordiv(a, b) b, which has the sign of b. An integer division by zero fails the run. Shape: a and b broadcast.
/// Gradient: g and -g floordiv(a, b).
struct mod_op {
    static constexpr auto name = "FloorMod";
    using domain_type = domains::real;
    using compiled_types = types::common;
    static constexpr bool divides = true;
    template <class T> RILL_FN static T scalar(const T& a, const T& b) {
        T r;
        if constexpr (is_integral<T>)
            r = (lane<T>(a) % lane<T>(b)).v;
        else
            r = std::fmod(a, b); // exact
        return r != T(0) && (r < T(0)) != (b < T(0)) ? static_cast<T>(r + b) : r;
    }
    template <class V> RILL_FN static auto pullback(const V& a, const V& b, const V&, const V& g) {
        return adjoints<V, V>(g, -(g * floordiv(a, b)));
    }
};

template <class A, class B>
    requires elementwise_pair<A, B>
RILL_FRONT auto mod(const A& a, const B& b) {
    static_assert(dtypes_agree<dtype_tag<A>, dtype_tag<B>>, "mod: the dtypes differ; convert with cast<T>()");
    static_assert(shapes_broadcast<extents_of<A>, extents_of<B>>, "mod: the shapes do not broadcast");
    return apply<mod_op>(a, b);
}

}} // namespace rill::RILL_ABI
