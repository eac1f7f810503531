// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/queue/queue_op.hpp>

namespace rill { inline namespace RILL_ABI {

/// Takes a tuple out of a queue. Waits while the queue is empty. Fails with `out_of_range` if the queue is closed and
/// empty.
struct dequeue_op : detail::queue_user {
    static constexpr auto name = "QueueDequeue", label = "dequeue";
    static constexpr int inputs = 1;
    static constexpr bool is_async = true, has_dynamic_outputs = true, consumes = true;
    std::vector<tensor_type> components;

    static void fields(auto& op, auto& visit) { detail::visit_components(op.components, visit); }
    std::vector<tensor_type> outputs(std::span<const tensor_type>) const { return components; }
    template <class D, class T> kernel bind(kernel_request&) const {
        return kernel(
            [all = components](const kernel_args& a) { detail::queue_of(a, all)->dequeue(*a.wait, a.sized); });
    }
};

}} // namespace rill::RILL_ABI
