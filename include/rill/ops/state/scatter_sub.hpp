// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/state/scatter.hpp>

namespace rill { inline namespace RILL_ABI {

namespace detail {

struct scatter_sub_step {
    template <class V>
    RILL_FN static void run(std::array<V, 1>& old, const std::array<V, 1>& given, const std::array<V, 0>&) {
        old[0] = old[0] - given[0];
    }
};

} // namespace detail

/// Subtracts slices from the slices of a variable that ids select. An id that occurs twice subtracts twice.
struct scatter_sub_op : detail::scatter<detail::scatter_sub_step> {
    static constexpr auto name = "ScatterSub";
};

}} // namespace rill::RILL_ABI
