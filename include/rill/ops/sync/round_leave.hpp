// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/sync/sync_round.hpp>

namespace rill { inline namespace RILL_ABI {

/// Records that a replica has finished, and returns the number of remaining replicas: an int64 of rank 0.
struct round_leave_op : detail::resource_user {
    static constexpr auto name = "RoundLeave";
    static constexpr int inputs = 2; // the handle, the number of the replica
    static constexpr auto no_gradient = "it reads the state of a resource, not an operand";

    input_list host_inputs() const { return {0, 1}; }
    std::vector<tensor_type> outputs(std::span<const tensor_type> in) const {
        detail::check_count_operand(in[1], "the number of the replica");
        return {{dtype::int64, dims{}}};
    }
    template <class D, class T> kernel bind(kernel_request& r) const {
        return kernel([type = r.inputs[1].type, by = detail::session_member(r)](const kernel_args& a) {
            D::fill(a.on, 1, a.out<std::int64_t>(0),
                    detail::resource_of<detail::round_state>(a)->leave(detail::numbered_member(by, type, a, 1)));
        });
    }
};

}} // namespace rill::RILL_ABI
