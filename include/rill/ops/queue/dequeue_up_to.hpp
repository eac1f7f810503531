// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/queue/queue_op.hpp>

namespace rill { inline namespace RILL_ABI {

/// Takes n tuples out of a queue as dequeue_many does, or the remaining ones of a closed queue. Fails with `out_of_range` if a closed queue
/// is empty.
struct dequeue_up_to_op : detail::queue_taker<true> {
    static constexpr auto name = "QueueDequeueUpTo", label = "dequeue_up_to";
};

}} // namespace rill::RILL_ABI
