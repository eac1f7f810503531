// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/queue/queue_op.hpp>
#include <rill/resources/keyed_barrier_state.hpp>

namespace rill { inline namespace RILL_ABI {

/// Takes n complete elements out of a keyed barrier, by arrival of their keys; waits until they are there. Returns the arrival numbers of
/// the keys (int64), the keys, and the stacked components. Fails with `out_of_range` if a closed barrier can't complete n.
/// `allow_small_batch`: a closed barrier gives the elements that are ready, if there is one.
struct keyed_barrier_take_many_op : detail::queue_user {
    static constexpr auto name = "BarrierTakeMany", label = "take_many";
    static constexpr int inputs = 2; // the handle, n
    static constexpr bool is_async = true, has_dynamic_outputs = true, consumes = true;
    std::vector<tensor_type> components;
    bool allow_small_batch = false;

    static void fields(auto& op, auto& visit) {
        detail::visit_components(op.components, visit);
        visit("allow_small_batch", op.allow_small_batch);
    }
    input_list host_inputs() const { return {0, 1}; }
    std::vector<tensor_type> outputs(const known_inputs& in) const {
        detail::check_count_operand(in.types[1], "the number of elements");
        std::vector<tensor_type> all{{dtype::int64, dims{}}, {dtype::string, dims{}}};
        all.insert(all.end(), components.begin(), components.end());
        return detail::batched(all, allow_small_batch ? nullptr : in.value(1));
    }
    template <class D, class T> kernel bind(kernel_request& r) const {
        return kernel([all = components, type = r.inputs[1].type, small = allow_small_batch](const kernel_args& a) {
            const auto barrier = detail::resource_of<detail::keyed_barrier_state>(a);
            detail::require_components(barrier->named(), barrier->components(), all);
            barrier->take_many(detail::count_of(type, a.in<void>(1)), small, *a.wait, a.sized);
        });
    }
};

}} // namespace rill::RILL_ABI
