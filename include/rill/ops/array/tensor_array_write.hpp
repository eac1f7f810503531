// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/array/gather.hpp>
#include <rill/ops/state/scatter_update.hpp>

namespace rill { inline namespace RILL_ABI {

/// Replaces slices along the first axis of a tensor, at ids. If an id occurs twice, the last slice is kept. Updates in place if
/// nothing else uses the tensor. Inputs: the tensor, the ids, the slices. Gradient: g with zeros at the ids, and the gathered slices
/// of g. The ids must then differ. An id out of range is invalid_argument.
struct tensor_array_write_op {
    static constexpr auto name = "TensorArrayWrite", label = "tensor_array";
    static constexpr int inputs = 3, updates = 0;
    using domain_type = domains::every;
    using compiled_types = types::moved;
    using brings = op_list<gather_op>;

    std::vector<tensor_type> outputs(std::span<const tensor_type> in) const { return detail::scatter_outputs(in); }
    std::vector<endpoint> gradient(const gradient_request& r) const;
    op_cost cost(std::span<const tensor_type> in, std::span<const tensor_type>) const {
        return detail::cost_of_slices(in[2]);
    }

    template <class D, class T> kernel bind(kernel_request& request) const {
        const detail::axis_view view(request.inputs[0].shape, 0);
        const index_t size = request.inputs[0].shape.size();
        return detail::with_index_type(request.inputs[1].type, [&]<class I>(std::type_identity<I>) {
            const detail::index_check<I> ids(request.inputs[1].shape, view.extent, "index");
            return kernel([=](const kernel_args& a) {
                detail::check_indices<D>(a.on, ids, a.in<I>(1));
                if (a.in<T>(0) != a.out<T>(0)) D::copy(a.on, dtype_of<T>, a.in<T>(0), a.out<T>(0), size);
                D::template update_rows<detail::scatter_update_step>(a.on, a.in<I>(1), ids.count, view.inner,
                                                                     std::array{a.out<T>(0)}, std::array{a.in<T>(2)},
                                                                     no_constants<T>{}, equal_ids::in_turn);
            });
        });
    }
};

}} // namespace rill::RILL_ABI

#if RILL_DEFINE
namespace rill { inline namespace RILL_ABI {

RILL_INLINE std::vector<endpoint> tensor_array_write_op::gradient(const gradient_request& r) const {
    // The slices must be gathered from g first, because the write may change g in place.
    const endpoint slices = r.add<tensor_array_write_op>(gather_op{0}, {r.gradient(), r.input(1)});
    const endpoint rest = r.add<tensor_array_write_op>(tensor_array_write_op{},
                                                       {r.gradient(), r.input(1), detail::filled_like(slices, 0)});
    return {rest, {}, slices};
}

}} // namespace rill::RILL_ABI
#endif
