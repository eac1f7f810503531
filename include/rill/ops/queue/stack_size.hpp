// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/queue/stack_state.hpp>
#include <rill/ops/state/resource_op.hpp>

namespace rill { inline namespace RILL_ABI {

/// How many tensors a stack holds: an int of rank 0.
struct stack_size_op : detail::resource_user {
    static constexpr auto name = "StackSize";
    static constexpr int inputs = 1;
    static constexpr auto no_gradient = "what it looks at is no operand";

    std::vector<tensor_type> outputs(std::span<const tensor_type>) const { return {{dtype::int32, dims{}}}; }
    template <class D, class T> kernel bind(kernel_request&) const {
        return kernel([](const kernel_args& a) {
            D::fill(1, a.out<std::int32_t>(0),
                    static_cast<std::int32_t>(detail::resource_of<detail::stack_state>(a)->size()));
        });
    }
};

}} // namespace rill::RILL_ABI
