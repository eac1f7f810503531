// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/nn/window/max_pool.hpp>

namespace rill { inline namespace RILL_ABI {

struct avg_pool_grad_op;

/// Computes the mean of each window of images with 1 to 3 axes. Elements outside the image do not count. Shape: [batch, in.., channels]
/// gives [batch, out.., channels]. TensorFlow's AvgPool3D is this op over one more axis. Gradient: AvgPoolGrad.
struct avg_pool_op : detail::window_op {
    static constexpr auto name = "AvgPool", label = "avg_pool";
    using domain_type = domains::real_floating;
    using compiled_types = types::floats;
    using brings = op_list<avg_pool_grad_op>;
    using window_op::window_op;

    shape_result shape(const dims& x) const { return rules::pool(x, at()); }
    std::vector<endpoint> gradient(const gradient_request& r) const;

    template <class D, class T> kernel bind(kernel_request& request) const {
        return kernel([s = detail::bound_pool(request.inputs[0].shape, at(), request)](const kernel_args& a) {
            D::average_pool(a.on, s.window, s.channels, a.in<T>(0), a.out<T>(0));
        });
    }
};

/// Computes the gradient of an average pool for its image. Inputs: a tensor of the image's shape, whose values are not read, and the
/// gradient of the result. Gradient: AvgPool for the gradient.
struct avg_pool_grad_op : detail::window_op {
    static constexpr auto name = "AvgPoolGrad", label = "avg_pool_grad";
    static constexpr int inputs = 2;
    using domain_type = domains::real_floating;
    using compiled_types = types::floats;
    using brings = op_list<avg_pool_op>;
    using window_op::window_op;

    std::vector<tensor_type> outputs(std::span<const tensor_type> in) const;
    std::vector<endpoint> gradient(const gradient_request& r) const;
    static input_list shape_only_inputs() { return {0}; }

    template <class D, class T> kernel bind(kernel_request& request) const {
        return kernel([s = detail::bound_pool(request.inputs[0].shape, at(), request)](const kernel_args& a) {
            D::average_pool_gradient(a.on, s.window, s.channels, a.in<T>(1), a.out<T>(0));
        });
    }
};

/// Averages over windows: avg_pool<window{.size = {2, 2}}>(x) of x [batch, height, width, channels]. x may also have one or three axes in
/// place of height and width. The default strides are the window's size.
template <window W, graph_operand X>
auto avg_pool(const X& x, const std::source_location& where = std::source_location::current()) {
    if constexpr (typed_operand<X>) {
        static_assert(detail::is_pooled<extents_of<X>::rank>,
                      "avg_pool: the image must have the dimensions [batch, .., channels], with 1 to 3 axes between");
        if constexpr (detail::is_pooled<extents_of<X>::rank>)
            static_assert(detail::pool_fits<extents_of<X>, W>,
                          "avg_pool: the window is larger than the image, or a number of the window is wrong");
        static_assert(is_real_floating<value_type_of<X>>, "avg_pool: the element type is not floating");
    }
    return detail::add_pool<avg_pool_op, W>(x, where);
}
/// Averages over a window known only at run time.
template <graph_operand X>
any_tensor avg_pool(const X& x, const window& w, const std::source_location& where = std::source_location::current()) {
    return apply_node(avg_pool_op(w), where, x);
}

}} // namespace rill::RILL_ABI

#if RILL_DEFINE
namespace rill { inline namespace RILL_ABI {

RILL_INLINE std::vector<endpoint> avg_pool_op::gradient(const gradient_request& r) const {
    return {r.add<avg_pool_op>(with_window<avg_pool_grad_op>(), {r.input(0), r.gradient()})};
}

RILL_INLINE std::vector<tensor_type> avg_pool_grad_op::outputs(std::span<const tensor_type> in) const {
    detail::check_same_types(in);
    const auto result = detail::checked_window_result(in[0].type, rules::pool(in[0].shape, at()));
    detail::check_gradient_of_window(in[1], result.shape);
    return {in[0]};
}

RILL_INLINE std::vector<endpoint> avg_pool_grad_op::gradient(const gradient_request& r) const {
    return {{}, r.add<avg_pool_grad_op>(with_window<avg_pool_op>(), {r.gradient()})};
}

}} // namespace rill::RILL_ABI
#endif
