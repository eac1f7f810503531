// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/array/indices.hpp>

namespace rill { inline namespace RILL_ABI {

struct gather_op;

/// Adds slices along an axis of a tensor, at the positions given by ids. An id that occurs twice adds twice. Updates in place if
/// nothing else uses the tensor. Inputs: the tensor, the ids, the slices. Gradient: g for the tensor, and the gathered slices of g.
/// An id out of range is invalid_argument.
struct add_rows_op {
    static constexpr auto name = "AddRows";
    static constexpr int version = 2; // version 1 had no axis
    static constexpr int inputs = 3, updates = 0;
    using domain_type = domains::numeric;
    using compiled_types = types::floats;
    using brings = op_list<gather_op>;
    int axis = 0;

    static void fields(auto& op, auto& visit) { visit("axis", op.axis); }
    std::vector<tensor_type> outputs(std::span<const tensor_type> in) const {
        return detail::scatter_outputs(in, axis);
    }
    std::vector<endpoint> gradient(const gradient_request& r) const;
    op_cost cost(std::span<const tensor_type> in, std::span<const tensor_type>) const {
        return detail::cost_of_slices(in[2]);
    }

    template <class D, class T> kernel bind(kernel_request& request) const {
        const detail::axis_view view(request.inputs[0].shape, axis);
        const index_t size = request.inputs[0].shape.size();
        return detail::with_index_type(request.inputs[1].type, [&]<class I>(std::type_identity<I>) {
            const detail::index_check<I> ids(request.inputs[1].shape, view.extent, "id");
            return kernel([=](const kernel_args& a) {
                detail::check_indices<D>(a.on, ids, a.in<I>(1));
                if (a.in<T>(0) != a.out<T>(0)) D::copy(a.on, dtype_of<T>, a.in<T>(0), a.out<T>(0), size);
                D::scatter_add(a.on, a.in<T>(2), a.in<I>(1), a.out<T>(0), view.outer, view.extent, view.inner,
                               ids.count);
            });
        });
    }
};

}} // namespace rill::RILL_ABI

#include <rill/ops/array/gather.hpp> // its gradient, as this adds up the gradients of that

#if RILL_DEFINE
namespace rill { inline namespace RILL_ABI {

RILL_INLINE std::vector<endpoint> add_rows_op::gradient(const gradient_request& r) const {
    return {r.gradient(), {}, r.add<add_rows_op>(gather_op{axis}, {r.gradient(), r.input(1)})};
}

}} // namespace rill::RILL_ABI
#endif
