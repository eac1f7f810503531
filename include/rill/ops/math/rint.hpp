// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>

#include <rill/expr/apply.hpp>

namespace rill { inline namespace RILL_ABI {

/// The nearest integer, with ties to even. Shape: that of x. Gradient: 0 for any g.
struct rint_op {
    static constexpr auto name = "Rint";
    using domain_type = domains::real_floating;
    using compiled_types = types::floats;
    template <class T> RILL_FN static T scalar(const T& x) { return std::nearbyint(x); }
    template <class V> RILL_FN static auto pullback(const V&) { return V(0); }
};

template <elementwise_operand X> RILL_FRONT auto rint(const X& x) { return apply<rint_op>(x); }

}} // namespace rill::RILL_ABI
