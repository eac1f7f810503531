// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/queue/queue_op.hpp>

namespace rill { inline namespace RILL_ABI {

/// Closes a queue to new elements; those in it can still be taken out. Pending enqueues complete first, or fail with `cancelled` if
/// `cancel_pending_enqueues`. A second close without `cancel_pending_enqueues` fails with `cancelled`.
struct queue_close_op : detail::queue_user {
    static constexpr auto name = "QueueClose", label = "close";
    static constexpr int inputs = 1;
    static constexpr bool is_async = true;
    bool cancel_pending_enqueues = false;

    static void fields(auto& op, auto& visit) { visit("cancel_pending_enqueues", op.cancel_pending_enqueues); }
    std::vector<tensor_type> outputs(std::span<const tensor_type>) const { return {}; }
    template <class D, class T> kernel bind(kernel_request&) const {
        return kernel(
            [cancel = cancel_pending_enqueues](const kernel_args& a) { detail::queue_of(a)->close(cancel, *a.wait); });
    }
};

}} // namespace rill::RILL_ABI
