// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/queue/queue_op.hpp>

namespace rill { inline namespace RILL_ABI {

/// Returns the number of elements in a queue, an int of rank 0.
struct queue_size_op : detail::resource_question<&detail::element_queue::size> {
    static constexpr auto name = "QueueSize", label = "size";
    static constexpr auto no_gradient = detail::queue_user::no_gradient;
};

}} // namespace rill::RILL_ABI
