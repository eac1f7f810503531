// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/sync/sync_round.hpp>

namespace rill { inline namespace RILL_ABI {

/// Begins a new round and returns its number: an int64 of rank 0. Gradients of earlier rounds no longer count. It waits until no step
/// updates variables. If it closes the round, no step updates variables until the next reset, so that they can be restored.
struct round_reset_op : detail::resource_user {
    static constexpr auto name = "RoundReset";
    static constexpr int inputs = 1;
    static constexpr bool is_async = true, has_dynamic_outputs = true;
    static constexpr auto ordering = step_ordering::reads;
    static constexpr auto no_gradient = "it reads the state of a resource, not an operand";
    bool closes = false;

    static void fields(auto& op, auto& visit) { visit("closes", op.closes); }
    std::vector<tensor_type> outputs(std::span<const tensor_type>) const { return {{dtype::int64, dims{}}}; }
    template <class D, class T> kernel bind(kernel_request&) const {
        return kernel([closes = closes](const kernel_args& a) {
            detail::resource_of<detail::round_state>(a)->reset(closes, *a.wait, a.sized);
        });
    }
};

}} // namespace rill::RILL_ABI
