// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/queue/queue_op.hpp>

namespace rill { inline namespace RILL_ABI {

/// Whether a queue is closed: a bool of rank 0.
struct queue_is_closed_op : detail::queue_user {
    static constexpr auto name = "QueueIsClosed", label = "is_closed";
    static constexpr int inputs = 1;

    std::vector<tensor_type> outputs(std::span<const tensor_type>) const { return {{dtype::boolean, dims{}}}; }
    template <class D, class T> kernel bind(kernel_request&) const {
        return kernel([](const kernel_args& a) { D::fill(1, a.out<bool>(0), detail::queue_of(a)->is_closed()); });
    }
};

}} // namespace rill::RILL_ABI
