// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/queue/queue_op.hpp>

namespace rill { inline namespace RILL_ABI {

/// Takes n tuples out of a queue, stacked along a new first axis; waits until they are there. Fails with `out_of_range` if the queue closes
/// before; the taken tuples then go back to its front.
struct dequeue_many_op : detail::queue_taker<false> {
    static constexpr auto name = "QueueDequeueMany", label = "dequeue_many";
};

}} // namespace rill::RILL_ABI
