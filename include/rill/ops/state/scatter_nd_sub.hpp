// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/state/scatter_nd.hpp>
#include <rill/ops/state/scatter_sub.hpp>

namespace rill { inline namespace RILL_ABI {

/// Subtracts slices from the slices of a variable that rows of indices select. A row that occurs twice subtracts twice.
struct scatter_nd_sub_op : detail::scatter_nd<detail::scatter_sub_step> {
    static constexpr auto name = "ScatterNdSub";
};

}} // namespace rill::RILL_ABI
