// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/state/scatter.hpp>

namespace rill { inline namespace RILL_ABI {

namespace detail {

struct scatter_add_step {
    template <class V>
    RILL_FN static void run(std::array<V, 1>& old, const std::array<V, 1>& given, const std::array<V, 0>&) {
        old[0] = old[0] + given[0];
    }
};

} // namespace detail

/// Adds slices to the slices of a variable that ids select. An id that occurs twice adds twice.
struct scatter_add_op : detail::scatter<detail::scatter_add_step> {
    static constexpr auto name = "ScatterAdd";
};

}} // namespace rill::RILL_ABI
