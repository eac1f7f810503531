// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/array/gather.hpp>

namespace rill { inline namespace RILL_ABI {

/// The rows of a table that ids choose: gather along axis 0, whose gradient is rows. Shape: the ids', then the table's without axis 0.
template <graph_operand Table, ids_argument Ids = std::vector<int>>
auto embedding_lookup(const Table& table, const Ids& ids,
                      const std::source_location& where = std::source_location::current()) {
    return gather<0>(table, ids, where);
}

}} // namespace rill::RILL_ABI
