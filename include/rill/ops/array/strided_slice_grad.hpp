// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/array/slicing.hpp>

namespace rill { inline namespace RILL_ABI {

struct add_slice_op;
struct strided_slice_op;

/// Places a tensor into zeros at the positions given by ranges. This is the gradient of slices. Inputs: the tensor, and a
/// tensor of the original shape, whose values are not read. Gradient: the slice of g.
struct strided_slice_grad_op {
    static constexpr auto name = "StridedSliceGrad";
    static constexpr int inputs = 2;
    using domain_type = domains::numeric;
    using compiled_types = types::floats;
    using brings = op_list<strided_slice_op, add_slice_op>; // gradients of several slices are added with add_slice
    rules::slicing ranges;

    static void fields(auto& op, auto& visit) { detail::fields_of_slicing(op.ranges, visit); }
    std::vector<tensor_type> outputs(std::span<const tensor_type> in) const;
    std::vector<endpoint> gradient(const gradient_request& r) const;
    static input_list shape_only_inputs() { return {1}; }
    std::optional<padded_view> pads_input(std::span<const tensor_type> in) const;

    template <class D, class T> kernel bind(kernel_request& request) const {
        const dims& x = request.outputs[0].shape;
        return kernel([l = detail::layout_of_slice(x, ranges, false), n = x.size()](const kernel_args& a) {
            D::fill(a.on, n, a.out<T>(0), T(0));
            if (!l.empty) D::copy(a.on, a.in<T>(0), a.out<T>(0) + l.begin, l.layout);
        });
    }
};

}} // namespace rill::RILL_ABI

#include <rill/ops/array/add_slice.hpp>
#include <rill/ops/array/strided_slice.hpp> // its gradient, as this is the gradient of that

#if RILL_DEFINE
namespace rill { inline namespace RILL_ABI {

RILL_INLINE std::vector<tensor_type> strided_slice_grad_op::outputs(std::span<const tensor_type> in) const {
    const auto taken = detail::checked_slice(in[1].shape, ranges);
    if (!taken.ok()) throw invalid_argument(taken.reason());
    if (!rules::compatible(in[0].shape, taken.shape)) throw invalid_argument("the ranges don't take that shape");
    return {{in[0].type, in[1].shape}};
}

RILL_INLINE std::optional<padded_view> strided_slice_grad_op::pads_input(std::span<const tensor_type> in) const {
    const dims& x = in[1].shape;
    padded_view p{detail::view_of_slice(x, ranges), x, x, {}}; // around: zeros
    for (int i = 0; i < x.rank; ++i) {
        const bool whole = i >= ranges.begin.rank;
        if (!whole && ranges.step[i] != 1) return {};
        p.before[i] = whole ? 0 : rules::take(ranges.begin[i], ranges.end[i], 1, x[i]).first;
    }
    return p;
}

RILL_INLINE std::vector<endpoint> strided_slice_grad_op::gradient(const gradient_request& r) const {
    return {r.add<strided_slice_grad_op>(strided_slice_op{ranges}, {r.gradient()}), {}};
}

}} // namespace rill::RILL_ABI
#endif
