// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/state/scatter_add.hpp>
#include <rill/ops/state/scatter_nd.hpp>

namespace rill { inline namespace RILL_ABI {

/// Adds slices to the slices of a variable that rows of indices select. A row that occurs twice adds twice.
struct scatter_nd_add_op : detail::scatter_nd<detail::scatter_add_step> {
    static constexpr auto name = "ScatterNdAdd";
};

}} // namespace rill::RILL_ABI
