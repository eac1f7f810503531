// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/array/nd_indices.hpp>

// The common base of tensor_scatter_add, tensor_scatter_sub and tensor_scatter_update.

namespace rill { inline namespace RILL_ABI { namespace detail {

/// The base of ops that update slices of a tensor at rows of indices. Inputs: the tensor, the ids, the updates. Updates in place if
/// nothing else uses the tensor. `Step` combines old and new elements.
template <class Step> struct tensor_scatter {
    static constexpr int inputs = 3, updates = 0;

    std::vector<tensor_type> outputs(std::span<const tensor_type> in) const { return scatter_nd_outputs(in); }
    op_cost cost(std::span<const tensor_type> in, std::span<const tensor_type>) const { return cost_of_slices(in[2]); }
    template <class D, class T> kernel bind(kernel_request& request) const {
        return scatter_nd_kernel<D, T, Step>(request, [size = request.inputs[0].shape.size()](const kernel_args& a) {
            if (a.in<T>(0) != a.out<T>(0)) D::copy(a.on, dtype_of<T>, a.in<T>(0), a.out<T>(0), size);
            return a.out<T>(0);
        });
    }
};

template <class Op, class X, class Ids, class Updates>
auto add_tensor_scatter(const Op& op, const X& x, const Ids& ids, const Updates& updates,
                        const std::source_location& where) {
    static_assert(are_ids<Ids>, "tensor_scatter: the ids must be int or std::int64_t");
    static_assert(dtypes_agree<rill::dtype_tag<X>, rill::dtype_tag<Updates>>,
                  "tensor_scatter: the dtypes differ; convert with cast<T>()");
    const auto& at = ids_operand(ids, where);
    using I = std::remove_cvref_t<decltype(at)>;
    if constexpr (typed_operand<X> && typed_operand<I>) {
        static_assert(ids_choose_slices<extents_of<X>, extents_of<I>>,
                      "tensor_scatter: the last axis of the ids must hold an index for some of the tensor's axes");
        if constexpr (typed_operand<Updates>)
            static_assert(updates_fit_nd<extents_of<X>, extents_of<I>, extents_of<Updates>>,
                          "tensor_scatter: the updates don't fit the tensor and the ids");
    }
    const any_tensor made = apply_node(op, where, x, at, updates);
    return typed_result<void, X>(shape_of_first, made);
}

}}} // namespace rill::RILL_ABI::detail
