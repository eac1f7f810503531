// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/state/resource_op.hpp>
#include <rill/resources/stack_state.hpp>

namespace rill { inline namespace RILL_ABI {

/// Returns the number of tensors on a stack, an int of rank 0.
struct stack_size_op : detail::resource_question<&detail::stack_state::size> {
    static constexpr auto name = "StackSize";
};

}} // namespace rill::RILL_ABI
