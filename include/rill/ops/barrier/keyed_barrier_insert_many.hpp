// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/queue/queue_op.hpp>
#include <rill/resources/keyed_barrier_state.hpp>

namespace rill { inline namespace RILL_ABI {

/// Inserts component i of the elements with the given keys into a keyed barrier. The keys are a vector of strings; each takes one slice of
/// the values along the first axis. Inserts all or, on an error, none. A component that is there already is `invalid_argument`. A new key
/// for a closed barrier is `cancelled`.
struct keyed_barrier_insert_many_op : detail::queue_user {
    static constexpr auto name = "BarrierInsertMany", label = "insert_many";
    static constexpr int inputs = 3; // the handle, keys, values
    index_t component = 0;

    static void fields(auto& op, auto& visit) { visit("component_index", op.component); }
    input_list host_inputs() const { return {0, 1, 2}; }
    std::vector<tensor_type> outputs(std::span<const tensor_type> in) const {
        if (component < 0) throw invalid_argument("component_index is " + std::to_string(component));
        const auto& keys = in[1];
        if (keys.type != dtype::string || (keys.shape.known_rank() && keys.shape.rank != 1))
            throw invalid_argument("the keys are a vector of strings, not " + to_string(keys));
        if (in[2].shape.known_rank() && in[2].shape.rank == 0)
            throw invalid_argument("the values are a batch, not " + to_string(in[2]));
        return {};
    }
    template <class D, class T> kernel bind(kernel_request& r) const {
        return kernel([keys = r.inputs[1], values = r.inputs[2], i = component](const kernel_args& a) {
            detail::resource_of<detail::keyed_barrier_state>(a)->insert_many(i, a.array(keys, 1), a.array(values, 2));
        });
    }
};

}} // namespace rill::RILL_ABI
