// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/array/shape.hpp>
#include <rill/ops/array/slicing.hpp>

namespace rill { inline namespace RILL_ABI {

struct slice_op;
struct strided_slice_op;

/// Adds a block to a region of a tensor. The region is given by ranges, or begins at the integers of a third input. Updates in place
/// if nothing else uses the tensor. Inputs: the tensor, the block. Gradient: g for the tensor, and the region of g for the block.
struct add_slice_op {
    static constexpr auto name = "AddSlice";
    static constexpr int least_inputs = 2, updates = 0;
    using domain_type = domains::numeric;
    using compiled_types = types::floats;
    using brings = op_list<strided_slice_op, slice_op, shape_op>;
    rules::slicing ranges;

    static void fields(auto& op, auto& visit) { detail::fields_of_slicing(op.ranges, visit); }
    std::vector<tensor_type> outputs(std::span<const tensor_type> in) const;
    std::vector<endpoint> gradient(const gradient_request& r) const;
    static input_list host_inputs() { return {2}; }
    op_cost cost(std::span<const tensor_type> in, std::span<const tensor_type>) const {
        return detail::cost_of_slices(in[1]);
    }

    template <class D, class T> kernel bind(kernel_request& request) const {
        const dims &x = request.inputs[0].shape, &block = request.inputs[1].shape;
        const auto changed = [n = x.size()](const kernel_args& a) {
            if (a.in<T>(0) != a.out<T>(0)) D::copy(a.on, dtype_of<T>, a.in<T>(0), a.out<T>(0), n);
            return a.out<T>(0);
        };
        if (request.inputs.size() > 2)
            return detail::with_index_type(request.inputs[2].type, [&]<class I>(std::type_identity<I>) {
                return kernel(
                    [=, l = detail::block_layout(x, block, false), empty = block.size() == 0](const kernel_args& a) {
                        const index_t begin = l.begin(a.in<I>(2));
                        T* const to = changed(a);
                        if (!empty) D::add(a.on, a.in<T>(1), to + begin, l.layout);
                    });
            });
        return kernel([=, l = detail::layout_of_slice(x, ranges, false)](const kernel_args& a) {
            T* const to = changed(a);
            if (!l.empty) D::add(a.on, a.in<T>(1), to + l.begin, l.layout);
        });
    }
};

}} // namespace rill::RILL_ABI

#include <rill/ops/array/slice.hpp> // its gradients, as this adds up the gradients of those
#include <rill/ops/array/slice_grad.hpp>
#include <rill/ops/array/strided_slice.hpp>
#include <rill/ops/array/strided_slice_grad.hpp>

#if RILL_DEFINE
namespace rill { inline namespace RILL_ABI {

RILL_INLINE std::vector<tensor_type> add_slice_op::outputs(std::span<const tensor_type> in) const {
    if (in.size() > 3) throw invalid_argument("a tensor, a block and a begin at most are expected");
    if (in[0].type != in[1].type)
        throw invalid_argument("the dtypes differ: " + to_string(in[0]) + " and " + to_string(in[1]));
    // The block must have the shape of that slice of the tensor.
    if (in.size() > 2) return slice_grad_op{}.outputs(std::array{in[1], in[0], in[2]});
    return strided_slice_grad_op{ranges}.outputs(std::array{in[1], in[0]});
}

RILL_INLINE std::vector<endpoint> add_slice_op::gradient(const gradient_request& r) const {
    if (r.at.inputs.size() == 2) return {r.gradient(), r.add<add_slice_op>(strided_slice_op{ranges}, {r.gradient()})};
    const endpoint size = r.add<add_slice_op>(shape_op{dtype::int64}, {r.input(1)});
    return {r.gradient(), r.add<add_slice_op>(slice_op{}, {r.gradient(), r.input(2), size}), {}};
}

}} // namespace rill::RILL_ABI
#endif
