// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/table/table_op.hpp>

namespace rill { inline namespace RILL_ABI {

/// Returns the number of keys in a table, an int64 of rank 0.
struct lookup_table_size_op : detail::resource_question<&detail::table_state::size, std::int64_t> {
    static constexpr auto name = "LookupTableSizeV2", label = "size";
};

}} // namespace rill::RILL_ABI
