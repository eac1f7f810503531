// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/state/scatter.hpp>

namespace rill { inline namespace RILL_ABI {

namespace detail {

struct scatter_min_step {
    template <class V>
    RILL_FN static void run(std::array<V, 1>& old, const std::array<V, 1>& given, const std::array<V, 0>&) {
        old[0] = min(old[0], given[0]);
    }
};

} // namespace detail

/// Lowers the slices of a variable that ids select to the minimum of old and new elements. NaN counts as smaller.
struct scatter_min_op : detail::scatter<detail::scatter_min_step> {
    static constexpr auto name = "ScatterMin";
    using domain_type = domains::real;
    using compiled_types = types::numbers;
};

}} // namespace rill::RILL_ABI
