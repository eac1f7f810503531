// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/sync/replica_gradients.hpp>

namespace rill { inline namespace RILL_ABI {

/// Stores the gradients of one run of a replica: dense, or rows with their ids. Drops them if their round has been taken. Never waits.
struct replica_gradients_put_op : detail::resource_user {
    static constexpr auto name = "ReplicaGradientsPut";
    static constexpr int least_inputs = 4; // the handle, the round, the id, the gradients, and the ids of rows
    using domain_type = domains::real_floating;
    using compiled_types = types::floats;
    static constexpr auto no_gradient = ""; // the op has no outputs

    input_list host_inputs() const { return {0, 1, 2, 3, 4}; }
    dtype kernel_type(std::span<const tensor_type> in, std::span<const tensor_type>) const { return in[3].type; }
    std::vector<tensor_type> outputs(std::span<const tensor_type> in) const {
        detail::check_count_operand(in[1], "the round");
        detail::check_count_operand(in[2], "the id");
        if (in.size() > 5) throw invalid_argument("there are " + std::to_string(in.size()) + " inputs, not 4 or 5");
        if (in.size() > 4) detail::check_index_type(in[4].type, "the ids of the rows");
        return {};
    }
    template <class D, class T> kernel bind(kernel_request& r) const {
        const tensor_type rows = r.inputs.size() > 4 ? r.inputs[4] : tensor_type{dtype::invalid, dims{}};
        return kernel([step = r.inputs[1].type, id = r.inputs[2].type, type = r.inputs[3], rows](const kernel_args& a) {
            const bool by_rows = rows.type != dtype::invalid;
            detail::resource_of<detail::replica_gradients_state>(a)->put(
                {detail::count_of(step, a.in<void>(1)), detail::count_of(id, a.in<void>(2)), a.array(type, 3),
                 by_rows ? a.array(rows, 4) : any_array()},
                detail::add_elements<T>);
        });
    }
};

}} // namespace rill::RILL_ABI
