// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/queue/queue_op.hpp>

namespace rill { inline namespace RILL_ABI {

/// Puts a tuple into a queue. Waits while the queue is full. Fails with `cancelled` if the queue is closed.
struct enqueue_op : detail::queue_giver<false> {
    static constexpr auto name = "QueueEnqueue", label = "enqueue";
};

}} // namespace rill::RILL_ABI
