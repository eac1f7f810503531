// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/queue/queue_op.hpp>

namespace rill { inline namespace RILL_ABI {

/// Returns true if a queue is closed, as a bool of rank 0.
struct queue_is_closed_op : detail::resource_question<&detail::element_queue::is_closed, bool> {
    static constexpr auto name = "QueueIsClosed", label = "is_closed";
    static constexpr auto no_gradient = detail::queue_user::no_gradient;
};

}} // namespace rill::RILL_ABI
