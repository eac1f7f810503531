// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/state/resource_op.hpp>
#include <rill/resources/stack_state.hpp>

namespace rill { inline namespace RILL_ABI {

/// Takes the last tensor off a stack. Fails with `failed_precondition` if the stack is empty.
struct stack_pop_op : detail::resource_user {
    static constexpr auto name = "StackPopV2", label = "pop";
    static constexpr int inputs = 1;
    static constexpr bool has_dynamic_outputs = true, consumes = true;
    static constexpr auto no_gradient = "gradients end at a stack";
    tensor_type type;

    static void fields(auto& op, auto& visit) {
        visit("dtype", op.type.type);
        visit("shape", op.type.shape);
    }
    std::vector<tensor_type> outputs(std::span<const tensor_type>) const { return {type}; }
    template <class D, class T> kernel bind(kernel_request&) const {
        return kernel([expected = type](const kernel_args& a) {
            a.sized[0] = detail::resource_of<detail::stack_state>(a)->pop(expected);
        });
    }
};

}} // namespace rill::RILL_ABI
