// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/math/cast.hpp>
#include <rill/ops/math/not_equal.hpp>
#include <rill/ops/math/reduce_sum.hpp>

namespace rill { inline namespace RILL_ABI {

/// The number of elements over axes that are not zero, as std::int64_t. All axes without a list.
template <int... Axes, typed_operand X>
auto count_nonzero(const X& x, const std::source_location& where = std::source_location::current()) {
    return reduce_sum<Axes...>(cast<std::int64_t>(not_equal(x, value_type_of<X>(0))), where);
}

}} // namespace rill::RILL_ABI
