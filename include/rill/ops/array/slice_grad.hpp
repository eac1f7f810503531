// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/array/shape.hpp>
#include <rill/ops/array/slicing.hpp>

namespace rill { inline namespace RILL_ABI {

struct add_slice_op;
struct slice_op;

/// Places a block into zeros at the position given by a tensor. This is the gradient of slices with such a begin. Inputs: the block,
/// a tensor of the original shape, whose values are not read, and the begin. Gradient: the block of g.
struct slice_grad_op {
    static constexpr auto name = "SliceGrad";
    static constexpr int inputs = 3;
    using domain_type = domains::numeric;
    using compiled_types = types::floats;
    using brings = op_list<slice_op, shape_op, add_slice_op>; // gradients of several slices are added with add_slice

    std::vector<tensor_type> outputs(std::span<const tensor_type> in) const;
    std::vector<endpoint> gradient(const gradient_request& r) const;
    static input_list host_inputs() { return {2}; }
    static input_list shape_only_inputs() { return {1}; }

    template <class D, class T> kernel bind(kernel_request& request) const {
        return detail::with_index_type(request.inputs[2].type, [&]<class I>(std::type_identity<I>) {
            const dims &x = request.outputs[0].shape, &g = request.inputs[0].shape;
            return kernel(
                [l = detail::block_layout(x, g, false), n = x.size(), empty = g.size() == 0](const kernel_args& a) {
                    const index_t begin = l.begin(a.in<I>(2));
                    D::fill(a.on, n, a.out<T>(0), T(0));
                    if (!empty) D::copy(a.on, a.in<T>(0), a.out<T>(0) + begin, l.layout);
                });
        });
    }
};

}} // namespace rill::RILL_ABI

#include <rill/ops/array/add_slice.hpp>
#include <rill/ops/array/slice.hpp> // its gradient, as this is the gradient of that

#if RILL_DEFINE
namespace rill { inline namespace RILL_ABI {

RILL_INLINE std::vector<tensor_type> slice_grad_op::outputs(std::span<const tensor_type> in) const {
    if (in[0].type != in[1].type)
        throw invalid_argument("the dtypes differ: " + to_string(in[0]) + " and " + to_string(in[1]));
    detail::check_index_type(in[2].type, "the begin");
    const auto fits = rules::slice_of_size(in[1].shape, in[0].shape, nullptr);
    if (in[0].shape.known_rank() && !fits.ok()) throw invalid_argument(fits.reason());
    if (in[1].shape.known_rank() && !rules::compatible(in[2].shape, dims{in[1].shape.rank}))
        throw invalid_argument("a begin is expected of each axis");
    return {{in[0].type, in[1].shape}};
}

RILL_INLINE std::vector<endpoint> slice_grad_op::gradient(const gradient_request& r) const {
    const endpoint size = r.add<slice_grad_op>(shape_op{dtype::int64}, {r.input(0)});
    return {r.add<slice_grad_op>(slice_op{}, {r.gradient(), r.input(2), size}), {}, {}};
}

}} // namespace rill::RILL_ABI
#endif
