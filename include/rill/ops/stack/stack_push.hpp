// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/state/resource_op.hpp>
#include <rill/resources/stack_state.hpp>

namespace rill { inline namespace RILL_ABI {

/// Puts a tensor on a stack. Fails with `resource_exhausted` if the stack is full.
struct stack_push_op : detail::resource_user {
    static constexpr auto name = "StackPushV2", label = "push";
    static constexpr int inputs = 2;
    static constexpr auto no_gradient = "gradients end at a stack";

    input_list host_inputs() const { return {0, 1}; }
    std::vector<tensor_type> outputs(std::span<const tensor_type>) const { return {}; }
    template <class D, class T> kernel bind(kernel_request& r) const {
        return kernel([type = r.inputs[1]](const kernel_args& a) {
            detail::resource_of<detail::stack_state>(a)->push(a.array(type, 1));
        });
    }
};

}} // namespace rill::RILL_ABI
