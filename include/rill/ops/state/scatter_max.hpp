// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/state/scatter.hpp>

namespace rill { inline namespace RILL_ABI {

namespace detail {

struct scatter_max_step {
    template <class V>
    RILL_FN static void run(std::array<V, 1>& old, const std::array<V, 1>& given, const std::array<V, 0>&) {
        old[0] = max(old[0], given[0]);
    }
};

} // namespace detail

/// Raises the slices of a variable that ids select to the maximum of old and new elements. NaN counts as larger.
struct scatter_max_op : detail::scatter<detail::scatter_max_step> {
    static constexpr auto name = "ScatterMax";
    using domain_type = domains::real;
    using compiled_types = types::numbers;
};

}} // namespace rill::RILL_ABI
