// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>

#include <rill/expr/apply.hpp>
#include <rill/ops/math/exp.hpp>
#include <rill/ops/math/mul.hpp>

namespace rill { inline namespace RILL_ABI {

/// e^x - 1, exact near 0. Of floats and doubles within 2 ulp. Shape: that of x. Gradient: g e^x.
struct expm1_op {
    static constexpr auto name = "Expm1";
    using domain_type = domains::real_floating;
    using compiled_types = types::common;
    template <class T> static T scalar(const T& x) { return std::expm1(x); }
    template <class R> RILL_FN static auto registers(const R& x) -> decltype(expm1(x)) { return expm1(x); }
    template <class V> RILL_FN static auto pullback(const V& x, const V&, const V& g) { return g * exp(x); }
};

template <elementwise_operand X> RILL_FN auto expm1(const X& x) { return apply<expm1_op>(x); }

}} // namespace rill::RILL_ABI
