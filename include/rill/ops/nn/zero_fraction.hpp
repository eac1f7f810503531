// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/array/fill.hpp>
#include <rill/ops/math/cast.hpp>
#include <rill/ops/math/equal.hpp>
#include <rill/ops/math/reduce_mean.hpp>

namespace rill { inline namespace RILL_ABI {

/// Computes the fraction of elements that are zero, a float of rank 0. The result for an empty tensor is NaN.
template <graph_operand X>
auto zero_fraction(const X& x, const std::source_location& where = std::source_location::current()) {
    if constexpr (typed_operand<X>) {
        static_assert(has_zero_and_one<value_type_of<X>>, "zero_fraction: the element type has no zero");
        return reduce_mean(cast<float>(equal(x, value_type_of<X>(0))), where);
    } else {
        if (detail::is_null(x)) detail::refuse_null("zero_fraction", where);
        return reduce_mean(cast<float>(equal(x, detail::zero_of(x, where))), where);
    }
}

}} // namespace rill::RILL_ABI
