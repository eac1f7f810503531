// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/array/indices.hpp>
#include <rill/ops/math/conj.hpp>
#include <rill/ops/math/mul.hpp>

namespace rill { inline namespace RILL_ABI {

/// A first-order linear recurrence along an axis: y[0] = 0, y[i + 1] = a[i] y[i] + b[i]. A factor of 0 restarts the recurrence, whatever
/// the element before is. Reverse: from the end. The gradient of cumprod uses it and so needs no division. Inputs: factors and terms of one
/// shape. Gradient: for the terms, the reverse recurrence of g over the (conjugated) factors; for the factors, y times that.
struct linear_recurrence_op {
    static constexpr auto name = "LinearRecurrence";
    using domain_type = domains::floating;
    using compiled_types = types::floats;
    using brings = op_list<mul_op, conj_op>;
    int axis = 0;
    bool reverse = false;

    static void fields(auto& op, auto& visit) {
        visit("axis", op.axis);
        visit("reverse", op.reverse);
    }
    constexpr shape_result shape(const dims& factors, const dims& terms) const {
        if (!rules::compatible(factors, terms)) return {factors, "the shapes of factors and terms differ"};
        const dims& known = factors.known_rank() ? factors : terms;
        if (known.known_rank() && rules::normal_axis(axis, known.rank) < 0)
            return shape_result::wrong_axis(known, axis);
        return {known};
    }
    std::vector<endpoint> gradient(const gradient_request& r) const;
    template <class D, class T> kernel bind(kernel_request& request) const {
        if (request.inputs[0].shape != request.inputs[1].shape)
            throw invalid_argument("the shapes of factors and terms differ");
        const detail::axis_view view(request.inputs[0].shape, axis);
        return kernel([view, reverse = reverse](const kernel_args& a) {
            D::linear_recurrence(a.on, a.in<T>(0), a.in<T>(1), a.out<T>(0), view.outer, view.extent, view.inner,
                                 reverse);
        });
    }
};

}} // namespace rill::RILL_ABI

#if RILL_DEFINE
namespace rill { inline namespace RILL_ABI {

RILL_INLINE std::vector<endpoint> linear_recurrence_op::gradient(const gradient_request& r) const {
    const endpoint terms = r.add<linear_recurrence_op>(linear_recurrence_op{axis, !reverse},
                                                       {detail::conjugate_of(r.input(0)), r.gradient()});
    return {detail::apply_to_edges<mul_op>(detail::conjugate_of(r.output(0)), terms), terms};
}

}} // namespace rill::RILL_ABI
#endif
