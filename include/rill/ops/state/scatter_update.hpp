// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/state/scatter.hpp>

namespace rill { inline namespace RILL_ABI {

namespace detail {

struct scatter_update_step {
    template <class V>
    RILL_FN static void run(std::array<V, 1>& old, const std::array<V, 1>& given, const std::array<V, 0>&) {
        old[0] = given[0];
    }
};

} // namespace detail

/// Replaces the slices of a variable that ids select. If an id occurs twice, the last slice stays.
struct scatter_update_op : detail::scatter<detail::scatter_update_step> {
    static constexpr auto name = "ScatterUpdate";
    using domain_type = domains::every;
    using compiled_types = types::moved;
};

}} // namespace rill::RILL_ABI
