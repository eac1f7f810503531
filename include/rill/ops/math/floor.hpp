// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>

#include <rill/expr/apply.hpp>
#include <rill/ops/math/mul.hpp>

namespace rill { inline namespace RILL_ABI {

/// The largest integer that is at most x. Shape: that of x. Gradient: 0 for any g.
struct floor_op {
    static constexpr auto name = "Floor";
    using domain_type = domains::real_floating;
    using compiled_types = types::common;
    template <class T> RILL_FN static T scalar(const T& x) { return std::floor(x); }
    template <class R> RILL_FN static auto registers(const R& x) -> decltype(floor(x)) { return floor(x); }
    template <class V> RILL_FN static auto pullback(const V&) { return V(0); }
};

template <elementwise_operand X> RILL_FRONT auto floor(const X& x) { return apply<floor_op>(x); }

}} // namespace rill::RILL_ABI
