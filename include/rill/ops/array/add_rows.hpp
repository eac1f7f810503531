// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/array/gather_grad.hpp>
#include <rill/ops/array/indices.hpp>

namespace rill { inline namespace RILL_ABI {

/// A tensor to which slices along the first axis are added, where ids say: an id that occurs twice adds twice. In place where nothing else
/// needs the tensor. Inputs: the tensor, the ids, the slices. Gradient: g, and its slices. An id outside is invalid_argument.
struct add_rows_op {
    static constexpr auto name = "AddRows";
    static constexpr int inputs = 3, updates = 0;
    using domain_type = domains::numeric;
    using compiled_types = types::floats;
    using brings = op_list<gather_op>;

    std::vector<tensor_type> outputs(std::span<const tensor_type> in) const { return detail::scatter_outputs(in); }
    std::vector<endpoint> gradient(const gradient_request& r) const;

    template <class D, class T> kernel bind(kernel_request& request) const {
        const detail::axis_view view(request.inputs[0].shape, 0);
        const index_t size = request.inputs[0].shape.size();
        return detail::with_index_type(request.inputs[1].type, [&]<class I>(std::type_identity<I>) {
            return kernel([=, ids = request.inputs[1].shape](const kernel_args& a) {
                detail::check_indices<D>(a.in<I>(1), ids, view.extent, "id");
                if (a.in<T>(0) != a.out<T>(0)) D::copy(dtype_of<T>, a.in<T>(0), a.out<T>(0), size);
                D::scatter_add(a.in<T>(2), a.in<I>(1), a.out<T>(0), 1, view.extent, view.inner, ids.size());
            });
        });
    }
};

namespace detail {

/// What add_n gives, for gradients: those that are rows (of gather along axis 0) are added to the others where they lie, so that the
/// gradient of what a loop reads slice by slice costs the slices.
endpoint sum_of_gradients(const std::vector<endpoint>& terms);

} // namespace detail

}} // namespace rill::RILL_ABI

#if RILL_DEFINE
#include <rill/ops/math/add_n.hpp>

namespace rill { inline namespace RILL_ABI {

RILL_INLINE std::vector<endpoint> add_rows_op::gradient(const gradient_request& r) const {
    return {r.gradient(), {}, r.add<add_rows_op>(gather_op{0}, {r.gradient(), r.input(1)})};
}

RILL_INLINE endpoint detail::sum_of_gradients(const std::vector<endpoint>& terms) {
    std::vector<endpoint> dense;
    std::vector<const node*> rows;
    endpoint begin; // the first of rows to which nothing was added yet, where all terms are rows
    for (endpoint e : terms) {
        while (e && e.from->op->struct_name() == type_name<add_rows_op>()) {
            rows.push_back(e.from);
            e = e.from->inputs[0];
        }
        const node& n = *e.from;
        const auto* made = n.op->struct_name() == type_name<gather_grad_op>()
                               ? static_cast<const gather_grad_op*>(n.op->attributes())
                               : nullptr;
        if (made && made->axis == 0)
            begin ? rows.push_back(&n) : void(begin = e);
        else
            dense.push_back(e);
    }
    if (begin && !dense.empty()) rows.push_back(begin.from);
    endpoint sum = dense.empty() ? begin : dense.size() == 1 ? dense[0] : add_n(dense);
    for (const node* n : rows) {
        const bool added = n->op->struct_name() == type_name<add_rows_op>();
        const endpoint ids = n->inputs[1], slices = n->inputs[added ? 2 : 0];
        sum = {add_node(graph(*n->owner), make_op(add_rows_op{}), {sum, ids, slices}), 0};
    }
    return sum;
}

}} // namespace rill::RILL_ABI
#endif
