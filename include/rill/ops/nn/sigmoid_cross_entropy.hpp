// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/math/abs.hpp>
#include <rill/ops/math/add.hpp>
#include <rill/ops/math/exp.hpp>
#include <rill/ops/math/log1p.hpp>
#include <rill/ops/math/mul.hpp>
#include <rill/ops/math/neg.hpp>
#include <rill/ops/math/select.hpp>
#include <rill/ops/math/sigmoid.hpp>
#include <rill/ops/math/sub.hpp>

namespace rill { inline namespace RILL_ABI {

/// Computes the loss of independent binary labels, max(x, 0) - x z + log(1 + e^-|x|), for logits x and labels z. The
/// formula avoids overflow and cancellation. Shape: both broadcast. Gradient: g (sigmoid(x) - z) and -g x.
struct sigmoid_cross_entropy_op {
    static constexpr auto name = "SigmoidCrossEntropy";
    using domain_type = domains::real_floating;
    using compiled_types = types::common;
    static constexpr int weight = 5;
    template <class V> RILL_FN static auto value(const V& x, const V& z) {
        return x * (select(x > V(0), V(1), V(0)) - z) + log1p(exp(-abs(x))); // 1 - z is exact, without cancellation
    }
    template <class V> RILL_FN static auto pullback(const V& x, const V& z, const V&, const V& g) {
        return adjoints<V, V>(g * (sigmoid(x) - z), -(g * x));
    }
};

template <class A, class B>
    requires elementwise_pair<A, B>
RILL_FRONT auto sigmoid_cross_entropy(const A& logits, const B& labels) {
    static_assert(dtypes_agree<dtype_tag<A>, dtype_tag<B>>,
                  "sigmoid_cross_entropy: the dtypes differ; convert with cast<T>()");
    static_assert(shapes_broadcast<extents_of<A>, extents_of<B>>, "sigmoid_cross_entropy: the shapes do not broadcast");
    return apply<sigmoid_cross_entropy_op>(logits, labels);
}

}} // namespace rill::RILL_ABI
