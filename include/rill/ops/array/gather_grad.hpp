// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/array/indices.hpp>

namespace rill { inline namespace RILL_ABI {

struct gather_op;

/// Adds slices at ids to zeros of the shape of a table. This is the gradient of gather. Inputs: the slices, the ids, and the
/// table, whose values are not read. An optimizer that works with slices and ids reads them from the inputs. The dense table
/// is then never computed. Gradient: g, gathered.
struct gather_grad_op {
    static constexpr auto name = "GatherGrad";
    static constexpr int inputs = 3;
    using domain_type = domains::numeric;
    using compiled_types = types::floats;
    using brings = op_list<gather_op>;
    int axis = 0;

    static void fields(auto& op, auto& visit) { visit("axis", op.axis); }
    std::vector<tensor_type> outputs(std::span<const tensor_type> in) const;
    std::vector<endpoint> gradient(const gradient_request& r) const;
    static input_list shape_only_inputs() { return {2}; }

    template <class D, class T> kernel bind(kernel_request& request) const {
        const dims& table = request.outputs[0].shape;
        const detail::axis_view view(table, axis);
        return detail::with_index_type(request.inputs[1].type, [&]<class I>(std::type_identity<I>) {
            const detail::index_check<I> ids(request.inputs[1].shape, view.extent, "id");
            return kernel([=, size = table.size()](const kernel_args& a) {
                detail::check_indices<D>(a.on, ids, a.in<I>(1));
                D::fill(a.on, size, a.out<T>(0), T(0));
                D::scatter_add(a.on, a.in<T>(0), a.in<I>(1), a.out<T>(0), view.outer, view.extent, view.inner,
                               ids.count);
            });
        });
    }
};

}} // namespace rill::RILL_ABI

#include <rill/ops/array/gather.hpp> // its gradient, as this is the gradient of that

#if RILL_DEFINE
namespace rill { inline namespace RILL_ABI {

RILL_INLINE std::vector<tensor_type> gather_grad_op::outputs(std::span<const tensor_type> in) const {
    detail::check_index_type(in[1].type, "the ids");
    const auto slices = rules::gather(in[2].shape, in[1].shape, axis);
    if (!slices.ok()) throw invalid_argument(slices.reason());
    if (!rules::compatible(in[0].shape, slices.shape))
        throw invalid_argument("the slices don't fit the table and the ids");
    return {{in[0].type, in[2].shape}};
}

RILL_INLINE std::vector<endpoint> gather_grad_op::gradient(const gradient_request& r) const {
    return {r.add<gather_grad_op>(gather_op{axis}, {r.gradient(), r.input(1)}), {}, {}};
}

}} // namespace rill::RILL_ABI
#endif
