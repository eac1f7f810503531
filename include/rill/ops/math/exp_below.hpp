// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/expr/apply.hpp>
#include <rill/ops/math/equal.hpp>
#include <rill/ops/math/exp.hpp>
#include <rill/ops/math/mul.hpp>
#include <rill/ops/math/neg.hpp>
#include <rill/ops/math/select.hpp>
#include <rill/ops/math/sub.hpp>

namespace rill { inline namespace RILL_ABI {

/// e^(x - most), and 1 if both are equal, also if both are infinite. It is the term of sums of exponentials relative to the largest. Shape:
/// x and most broadcast. Gradient: g y and -g y.
struct exp_below_op {
    static constexpr auto name = "ExpBelow";
    using domain_type = domains::real_floating;
    using compiled_types = types::floats;
    template <class V> RILL_FN static auto value(const V& x, const V& most) {
        return select(equal(x, most), V(1), exp(x - most));
    }
    template <class V> RILL_FN static auto pullback(const V&, const V&, const V& y, const V& g) {
        const V d = g * y;
        return adjoints<V, V>(d, -d);
    }
};

}} // namespace rill::RILL_ABI
