// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/nn/window/pool_op.hpp>

namespace rill { inline namespace RILL_ABI {

struct max_pool_grad_op;
struct max_pool_grad_grad_op;

/// Computes the largest element of each window of images with 1 to 3 axes. [batch, in.., channels] gives [batch, out.., channels]. NaN
/// counts as the largest. TensorFlow's MaxPool3D is this op over one more axis. Gradient: MaxPoolGrad.
struct max_pool_op : detail::window_op {
    static constexpr auto name = "MaxPool", label = "max_pool";
    using domain_type = domains::real;
    using compiled_types = types::numbers;
    using brings = op_list<max_pool_grad_op>;
    using window_op::window_op;

    shape_result shape(const dims& x) const { return rules::pool(x, at()); }
    std::vector<endpoint> gradient(const gradient_request& r) const;

    template <class D, class T> kernel bind(kernel_request& request) const {
        return kernel([s = detail::bound_pool(request.inputs[0].shape, at(), request)](const kernel_args& a) {
            D::max_pool(a.on, s.window, s.channels, a.in<T>(0), a.out<T>(0));
        });
    }
};

/// Computes the gradient of a max pool for its image. The gradient of each window goes to its first largest element. Inputs: image, result,
/// gradient of the result. Gradient: MaxPoolGradGrad for the gradient; none for the image and the result, because it is 0 almost
/// everywhere.
struct max_pool_grad_op : detail::window_op {
    static constexpr auto name = "MaxPoolGrad", label = "max_pool_grad";
    static constexpr int inputs = 3;
    using domain_type = domains::real_floating;
    using compiled_types = types::floats;
    using brings = op_list<max_pool_grad_grad_op>;
    using window_op::window_op;

    std::vector<tensor_type> outputs(std::span<const tensor_type> in) const;
    std::vector<endpoint> gradient(const gradient_request& r) const;

    template <class D, class T> kernel bind(kernel_request& request) const {
        return kernel([s = detail::bound_pool(request.inputs[0].shape, at(), request)](const kernel_args& a) {
            D::max_pool_gradient(a.on, s.window, s.channels, a.in<T>(0), a.in<T>(1), a.in<T>(2), a.out<T>(0));
        });
    }
};

/// Selects from each window the element of a tensor at the first largest element of the image. Inputs: image, result, that tensor.
/// Gradient: MaxPoolGrad for the tensor.
struct max_pool_grad_grad_op : detail::window_op {
    static constexpr auto name = "MaxPoolGradGrad", label = "max_pool_grad_grad";
    static constexpr int inputs = 3;
    using domain_type = domains::real_floating;
    using compiled_types = types::floats;
    using brings = op_list<max_pool_grad_op>;
    using window_op::window_op;

    std::vector<tensor_type> outputs(std::span<const tensor_type> in) const;
    std::vector<endpoint> gradient(const gradient_request& r) const;

    template <class D, class T> kernel bind(kernel_request& request) const {
        return kernel([s = detail::bound_pool(request.inputs[0].shape, at(), request)](const kernel_args& a) {
            D::max_pool_gather(a.on, s.window, s.channels, a.in<T>(0), a.in<T>(1), a.in<T>(2), a.out<T>(0));
        });
    }
};

namespace detail {

template <class Op, rill::window W, class X> auto add_pool(const X& x, const std::source_location& where) {
    constexpr auto rule = [](const dims& image) { return rules::pool(image, W); };
    return apply_node(Op(W), rule, where, x);
}

} // namespace detail

/// Computes the largest element of each window: max_pool<window{.size = {2, 2}}>(x) of x [batch, height, width, channels]. x may also have
/// one or three axes in place of height and width. The default strides are the window's size.
template <window W, graph_operand X>
auto max_pool(const X& x, const std::source_location& where = std::source_location::current()) {
    if constexpr (typed_operand<X>) {
        static_assert(detail::is_pooled<extents_of<X>::rank>,
                      "max_pool: the image must have the dimensions [batch, .., channels], with 1 to 3 axes between");
        if constexpr (detail::is_pooled<extents_of<X>::rank>)
            static_assert(detail::pool_fits<extents_of<X>, W>,
                          "max_pool: the window is larger than the image, or a number of the window is wrong");
        static_assert(domains::real::has<value_type_of<X>>, "max_pool: the element type is not real");
    }
    return detail::add_pool<max_pool_op, W>(x, where);
}
/// Computes the max pool over a window known only at run time.
template <graph_operand X>
any_tensor max_pool(const X& x, const window& w, const std::source_location& where = std::source_location::current()) {
    return apply_node(max_pool_op(w), where, x);
}

}} // namespace rill::RILL_ABI

#if RILL_DEFINE
namespace rill { inline namespace RILL_ABI {

RILL_INLINE std::vector<endpoint> max_pool_op::gradient(const gradient_request& r) const {
    return {r.add<max_pool_op>(with_window<max_pool_grad_op>(), {r.input(0), r.output(0), r.gradient()})};
}

RILL_INLINE std::vector<tensor_type> max_pool_grad_op::outputs(std::span<const tensor_type> in) const {
    detail::check_same_types(in);
    const auto result = detail::checked_window_result(in[0].type, rules::pool(in[0].shape, at()));
    detail::check_gradient_of_window(in[1], result.shape);
    detail::check_gradient_of_window(in[2], result.shape);
    return {in[0]};
}

RILL_INLINE std::vector<endpoint> max_pool_grad_op::gradient(const gradient_request& r) const {
    return {
        {}, {}, r.add<max_pool_grad_op>(with_window<max_pool_grad_grad_op>(), {r.input(0), r.input(1), r.gradient()})};
}

RILL_INLINE std::vector<tensor_type> max_pool_grad_grad_op::outputs(std::span<const tensor_type> in) const {
    detail::check_same_types(in);
    const auto result = detail::checked_window_result(in[0].type, rules::pool(in[0].shape, at()));
    detail::check_gradient_of_window(in[1], result.shape);
    if (!rules::compatible(in[0].shape, in[2].shape))
        throw invalid_argument("a tensor of the image's shape " + to_string(in[0].shape) + " is expected, not " +
                               to_string(in[2].shape));
    return {result};
}

RILL_INLINE std::vector<endpoint> max_pool_grad_grad_op::gradient(const gradient_request& r) const {
    return {
        {}, {}, r.add<max_pool_grad_grad_op>(with_window<max_pool_grad_op>(), {r.input(0), r.input(1), r.gradient()})};
}

}} // namespace rill::RILL_ABI
#endif
