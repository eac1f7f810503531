// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/sync/sync_round.hpp>

namespace rill { inline namespace RILL_ABI {

/// Returns the round of a replica's gradients, and their id within the round. Both are int64 of rank 0.
struct round_begin_op : detail::resource_user {
    static constexpr auto name = "RoundBegin";
    static constexpr int inputs = 2; // the handle, the number of the replica
    static constexpr auto no_gradient = "it reads the state of a resource, not an operand";

    input_list host_inputs() const { return {0, 1}; }
    std::vector<tensor_type> outputs(std::span<const tensor_type> in) const {
        detail::check_count_operand(in[1], "the number of the replica");
        return {{dtype::int64, dims{}}, {dtype::int64, dims{}}};
    }
    template <class D, class T> kernel bind(kernel_request& r) const {
        return kernel([type = r.inputs[1].type, by = detail::session_member(r)](const kernel_args& a) {
            const auto c = detail::resource_of<detail::round_state>(a)->begin(detail::numbered_member(by, type, a, 1));
            D::fill(a.on, 1, a.out<std::int64_t>(0), c.step);
            D::fill(a.on, 1, a.out<std::int64_t>(1), c.id);
        });
    }
};

}} // namespace rill::RILL_ABI
