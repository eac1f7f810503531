// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/queue/queue_op.hpp>
#include <rill/resources/keyed_barrier_state.hpp>

namespace rill { inline namespace RILL_ABI {

/// Closes a keyed barrier to new keys. Ready elements can still be taken. Elements may still be completed, unless
/// `cancel_pending_enqueues`. A second close fails with `cancelled`, unless it is the first to cancel.
struct keyed_barrier_close_op : detail::queue_user {
    static constexpr auto name = "BarrierClose", label = "close";
    static constexpr int inputs = 1;
    bool cancel_pending_enqueues = false;

    static void fields(auto& op, auto& visit) { visit("cancel_pending_enqueues", op.cancel_pending_enqueues); }
    std::vector<tensor_type> outputs(std::span<const tensor_type>) const { return {}; }
    template <class D, class T> kernel bind(kernel_request&) const {
        return kernel([cancel = cancel_pending_enqueues](const kernel_args& a) {
            detail::resource_of<detail::keyed_barrier_state>(a)->close(cancel);
        });
    }
};

}} // namespace rill::RILL_ABI
