// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/queue/queue_op.hpp>

namespace rill { inline namespace RILL_ABI {

/// Puts slices along the first axis into a queue, one after another, as there is room. If the op ends early, some slices stay in the queue.
struct enqueue_many_op : detail::queue_giver<true> {
    static constexpr auto name = "QueueEnqueueMany", label = "enqueue_many";
};

}} // namespace rill::RILL_ABI
