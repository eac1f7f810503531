// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/queue/queue_op.hpp>

namespace rill { inline namespace RILL_ABI {

/// Takes n tuples out of a queue, stacked along a new first axis. Waits until there are n. If the queue closes before that, it fails with
/// `out_of_range`, and the taken tuples go back to the queue's front.
struct dequeue_many_op : detail::queue_taker<false> {
    static constexpr auto name = "QueueDequeueMany", label = "dequeue_many";
};

}} // namespace rill::RILL_ABI
