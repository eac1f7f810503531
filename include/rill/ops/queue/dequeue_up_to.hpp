// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/queue/dequeue_many.hpp>

namespace rill { inline namespace RILL_ABI {

/// As dequeue_many; but of a queue that is closed, what is left where that is fewer. `out_of_range` if it is nothing.
struct dequeue_up_to_op : detail::queue_user {
    static constexpr auto name = "QueueDequeueUpTo", label = "dequeue_up_to";
    static constexpr int inputs = 2;
    static constexpr bool waits = true, sizes_itself = true;
    std::vector<tensor_type> components;

    static void fields(auto& op, auto& visit) { detail::visit_components(op.components, visit); }
    input_list host_inputs() const { return {0, 1}; }
    std::vector<tensor_type> outputs(std::span<const tensor_type> in) const {
        detail::check_count_operand(in[1], "the number of elements");
        return detail::batched(components, nullptr);
    }
    template <class D, class T> kernel bind(kernel_request& r) const {
        return kernel([type = r.inputs[1].type](const kernel_args& a) {
            detail::queue_of(a)->dequeue_many(detail::count_of(type, a.in<void>(1)), true, *a.wait, a.sized);
        });
    }
};

}} // namespace rill::RILL_ABI
