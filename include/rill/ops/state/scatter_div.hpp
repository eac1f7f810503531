// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/state/scatter.hpp>

namespace rill { inline namespace RILL_ABI {

namespace detail {

struct scatter_div_step {
    template <class V>
    RILL_FN static void run(std::array<V, 1>& old, const std::array<V, 1>& given, const std::array<V, 0>&) {
        old[0] = old[0] / given[0];
    }
};

} // namespace detail

/// Divides the slices of a variable that ids select. An id that occurs twice divides twice.
struct scatter_div_op : detail::scatter<detail::scatter_div_step> {
    static constexpr auto name = "ScatterDiv";
    using domain_type = domains::floating;
    using compiled_types = types::floats;
};

}} // namespace rill::RILL_ABI
