// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/state/scatter_nd.hpp>
#include <rill/ops/state/scatter_update.hpp>

namespace rill { inline namespace RILL_ABI {

/// Replaces the slices of a variable that rows of indices select. If a row occurs twice, the last slice stays.
struct scatter_nd_update_op : detail::scatter_nd<detail::scatter_update_step> {
    static constexpr auto name = "ScatterNdUpdate";
    using domain_type = domains::every;
    using compiled_types = types::moved;
};

}} // namespace rill::RILL_ABI
