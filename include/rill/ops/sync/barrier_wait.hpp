// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/state/resource_op.hpp>
#include <rill/resources/barrier_state.hpp>

namespace rill { inline namespace RILL_ABI {

/// Arrives at a barrier and waits until all its parties have arrived. Nodes after it read variables as they are then.
struct barrier_wait_op : detail::resource_user {
    static constexpr auto name = "CyclicBarrierWait", label = "arrive_and_wait";
    static constexpr int inputs = 1;
    static constexpr bool is_async = true;
    static constexpr auto ordering = step_ordering::reads;
    static constexpr auto no_gradient = ""; // the op has no outputs

    std::vector<tensor_type> outputs(std::span<const tensor_type>) const { return {}; }
    template <class D, class T> kernel bind(kernel_request&) const {
        return kernel([](const kernel_args& a) { detail::resource_of<detail::barrier_state>(a)->arrive(*a.wait); });
    }
};

}} // namespace rill::RILL_ABI
