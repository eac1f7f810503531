// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>

#include <rill/ops/array/expand_dims.hpp>
#include <rill/ops/math/cast.hpp>
#include <rill/ops/math/less.hpp>
#include <rill/ops/math/logical_not.hpp>
#include <rill/ops/math/reduce_sum.hpp>

namespace rill { inline namespace RILL_ABI {

/// Returns for each element the number of boundaries that are less than or equal to it, as int. With bucketize(x, {0.f, 10.f, 100.f}) this
/// is 0 below 0, 1 from 0 on, 3 from 100 on, and 3 for NaN. Boundaries in descending order are invalid_argument. The result is an
/// expression.
template <graph_operand X>
auto bucketize(const X& x, const std::vector<float>& boundaries,
               const std::source_location& where = std::source_location::current()) {
    if (!std::is_sorted(boundaries.begin(), boundaries.end()))
        throw invalid_argument("bucketize: the boundaries must not fall" + detail::at_place(where));
    const auto bounds = constant(std::vector<double>(boundaries.begin(), boundaries.end()), where);
    return reduce_sum<-1>(cast<int>(logical_not(expand_dims<-1>(cast<double>(x), where) < bounds)), where);
}

}} // namespace rill::RILL_ABI
