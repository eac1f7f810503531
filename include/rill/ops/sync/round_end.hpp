// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/sync/sync_round.hpp>

namespace rill { inline namespace RILL_ABI {

/// Ends a replica's run. The leading run ends the round and wakes the waiting replicas.
struct round_end_op : detail::resource_user {
    static constexpr auto name = "RoundEnd";
    static constexpr int inputs = 4;        // the handle, the round, whether this run leads, the number of the replica
    static constexpr auto no_gradient = ""; // the op has no outputs

    input_list host_inputs() const { return {0, 1, 2, 3}; }
    std::vector<tensor_type> outputs(std::span<const tensor_type> in) const {
        detail::check_count_operand(in[1], "the round");
        detail::check_count_operand(in[3], "the number of the replica");
        if (in[2].type != dtype::boolean)
            throw invalid_argument("a bool tells whether the run leads, not " + to_string(in[2]));
        return {};
    }
    template <class D, class T> kernel bind(kernel_request& r) const {
        return kernel(
            [step = r.inputs[1].type, number = r.inputs[3].type, by = detail::session_member(r)](const kernel_args& a) {
                detail::resource_of<detail::round_state>(a)->end(detail::count_of(step, a.in<void>(1)), *a.in<bool>(2),
                                                                 detail::numbered_member(by, number, a, 3));
            });
    }
};

}} // namespace rill::RILL_ABI
