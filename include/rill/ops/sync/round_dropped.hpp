// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/sync/sync_round.hpp>

namespace rill { inline namespace RILL_ABI {

/// Returns the number of runs whose gradients were not used, an int64 of rank 0.
struct round_dropped_op : detail::resource_question<&detail::round_state::dropped, std::int64_t> {
    static constexpr auto name = "RoundDropped";
};

}} // namespace rill::RILL_ABI
