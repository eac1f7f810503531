// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/queue/queue_op.hpp>

namespace rill { inline namespace RILL_ABI {

/// Puts the slices along the first axis into a queue, one after another, as there is room: if it ends early, some are in.
struct enqueue_many_op : detail::queue_user {
    static constexpr auto name = "QueueEnqueueMany", label = "enqueue_many";
    static constexpr int least_inputs = 2;
    static constexpr bool waits = true;
    std::vector<tensor_type> components;

    static void fields(auto& op, auto& visit) { detail::visit_components(op.components, visit); }
    std::vector<tensor_type> outputs(std::span<const tensor_type> in) const {
        detail::check_components(in, components, true);
        return {};
    }
    template <class D, class T> kernel bind(kernel_request& r) const {
        return kernel([types = std::vector<tensor_type>(r.inputs.begin(), r.inputs.end())](const kernel_args& a) {
            detail::queue_of(a)->enqueue_many(detail::components_given(types, a), *a.wait);
        });
    }
};

}} // namespace rill::RILL_ABI
