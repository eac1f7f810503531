// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/queue/queue_op.hpp>

namespace rill { inline namespace RILL_ABI {

/// As dequeue_many; but of a queue that is closed, what is left where that is fewer. `out_of_range` if it is nothing.
struct dequeue_up_to_op : detail::queue_taker<true> {
    static constexpr auto name = "QueueDequeueUpTo", label = "dequeue_up_to";
};

}} // namespace rill::RILL_ABI
