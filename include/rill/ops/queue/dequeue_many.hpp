// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/array/indices.hpp>
#include <rill/ops/queue/queue_op.hpp>

namespace rill { inline namespace RILL_ABI {

namespace detail {

/// Components as a batch, whose length is known or not.
std::vector<tensor_type> batched(std::span<const tensor_type> components, const any_array* count);

} // namespace detail

/// Takes n tuples out of a queue, stacked along a new first axis; waits until they are there. A queue that is closed before: `out_of_range`,
/// and what was taken goes back to its front.
struct dequeue_many_op : detail::queue_user {
    static constexpr auto name = "QueueDequeueMany", label = "dequeue_many";
    static constexpr int inputs = 2;
    static constexpr bool waits = true, sizes_itself = true;
    std::vector<tensor_type> components;

    static void fields(auto& op, auto& visit) { detail::visit_components(op.components, visit); }
    input_list host_inputs() const { return {0, 1}; }
    std::vector<tensor_type> outputs(const known_inputs& in) const {
        detail::check_count_operand(in.types[1], "the number of elements");
        return detail::batched(components, in.value(1));
    }
    template <class D, class T> kernel bind(kernel_request& r) const {
        return kernel([type = r.inputs[1].type](const kernel_args& a) {
            detail::queue_of(a)->dequeue_many(detail::count_of(type, a.in<void>(1)), false, *a.wait, a.sized);
        });
    }
};

}} // namespace rill::RILL_ABI

#if RILL_DEFINE
namespace rill { inline namespace RILL_ABI { namespace detail {

RILL_COLD std::vector<tensor_type> batched(std::span<const tensor_type> components, const any_array* count) {
    std::vector<tensor_type> all;
    for (const auto& c : components) {
        tensor_type batch{c.type, dims{count ? std::max<index_t>(count_of(count->dtype(), count->data()), 0) : dyn}};
        if (!c.shape.known_rank()) batch.shape = c.shape;
        for (int i = 0; i < c.shape.rank; ++i) batch.shape.push(c.shape[i]);
        all.push_back(batch);
    }
    return all;
}

}}} // namespace rill::RILL_ABI::detail
#endif
