// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/sync/sync_round.hpp>

namespace rill { inline namespace RILL_ABI {

/// Arrives in a round with gradients, and waits until the round is over or this step becomes its leader. Returns a bool, true for the
/// leader, and the ids whose gradients the leader aggregates. Nodes after it read variables as they are then.
struct round_arrive_op : detail::resource_user {
    static constexpr auto name = "RoundArrive";
    static constexpr int inputs = 3; // the handle, the round and the id of the gradients
    static constexpr bool is_async = true, has_dynamic_outputs = true;
    static constexpr auto ordering = step_ordering::reads;
    static constexpr auto no_gradient = "it reads the state of a resource, not an operand";
    index_t count = 1; // ids

    static void fields(auto& op, auto& visit) { visit("count", op.count); }
    input_list host_inputs() const { return {0, 1, 2}; }
    std::vector<tensor_type> outputs(std::span<const tensor_type> in) const {
        detail::check_count_operand(in[1], "the round");
        detail::check_count_operand(in[2], "the id");
        return {{dtype::boolean, dims{}}, {dtype::int64, dims{count}}};
    }
    template <class D, class T> kernel bind(kernel_request& r) const {
        return kernel([step = r.inputs[1].type, id = r.inputs[2].type](const kernel_args& a) {
            const detail::round_state::contribution c{detail::count_of(step, a.in<void>(1)),
                                                      detail::count_of(id, a.in<void>(2))};
            detail::resource_of<detail::round_state>(a)->arrive(c, a.step, *a.wait, a.sized);
        });
    }
};

}} // namespace rill::RILL_ABI
