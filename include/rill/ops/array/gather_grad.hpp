// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/array/indices.hpp>

namespace rill::inline RILL_ABI {

/// Zeros in the shape of a table, to which slices are added where ids say: the gradient of gather. Inputs: the slices, the
/// ids, and the table, whose values don't matter. Gradient: g, gathered.
struct gather_grad_op {
    static constexpr auto name = "GatherGrad";
    int axis = 0;

    template <class V> void attributes(V& v) const { v("axis", axis); }
    std::vector<tensor_type> outputs(std::span<const tensor_type> in) const;
    std::vector<endpoint> gradient(const gradient_request& r) const;

    template <class D, class T> kernel bind(kernel_request& request) const {
        const dims& table = request.outputs[0].shape;
        const detail::axis_view view(table, axis);
        return detail::with_index_type(request.inputs[1].type, [&]<class I>(std::type_identity<I>) {
            return kernel([=, ids = request.inputs[1].shape, size = table.size()](const kernel_args& a) {
                detail::check_indices<D>(a.in<I>(1), ids, view.extent, error_code::out_of_range, "id");
                D::fill(size, a.out<T>(0), T(0));
                D::scatter_add(a.in<T>(0), a.in<I>(1), a.out<T>(0), view.outer, view.extent, view.inner, ids.size());
            });
        });
    }
    friend bool operator==(const gather_grad_op&, const gather_grad_op&) = default;
};

} // namespace rill::inline RILL_ABI

#include <rill/ops/array/gather.hpp> // its gradient, as this is the gradient of that

#if !RILL_COMPILED
#include <rill/ops/array/gather_grad.ipp>
#endif
