// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/nn/window/conv2d.hpp>

namespace rill { inline namespace RILL_ABI {

/// Computes the transpose of a convolution. [batch, in.., channels] and [size.., outputs, channels] give [batch, out.., outputs]. With
/// `same` padding each extent is multiplied by the stride. With `valid` padding it also grows by the excess of the window over the stride.
/// Gradients: Conv2D for the image, Conv2DBackpropFilter for the filter.
struct conv2d_transpose_op : detail::window_op {
    static constexpr auto name = "Conv2DTranspose", label = "conv2d_transpose";
    static constexpr int inputs = 2;
    using domain_type = domains::real_floating;
    using compiled_types = types::floats;
    using brings = op_list<conv2d_op, conv2d_backprop_filter_op>;
    using window_op::window_op;

    std::vector<tensor_type> outputs(std::span<const tensor_type> in) const;
    std::vector<endpoint> gradient(const gradient_request& r) const;
    op_cost cost(std::span<const tensor_type> in, std::span<const tensor_type> out) const {
        return detail::convolution_cost(out[0].shape, in[1].shape, at(), false, in, out);
    }
    template <class D, class T> kernel bind(kernel_request& request) const {
        const auto s = detail::shape_of_convolution(request.outputs[0].shape, request.inputs[1].shape, at(), false);
        request.scratch_bytes = D::template convolution_scratch<T>(request.on, convolution_part::input, s);
        request.shared = D::template convolution_is_shared<T>(request.on, convolution_part::input, s);
        return kernel([s, empty = request.outputs[0].shape.size() == 0](const kernel_args& a) {
            if (!empty) D::convolve_input(a.on, s, a.in<T>(1), a.in<T>(0), a.out<T>(0));
        });
    }
};

/// True if the image X and the filter F, [.., outputs, channels], fit a transposed convolution.
template <class X, class F, window W>
inline constexpr bool transpose_fits = rules::convolution_transpose(static_dims<X>, static_dims<F>, W).ok();

/// Computes a transposed convolution with a window known only at run time.
template <graph_operand X, graph_operand F>
any_tensor conv2d_transpose(const X& x, const F& f, const window& w,
                            const std::source_location& where = std::source_location::current()) {
    detail::require_rank(conv2d_transpose_op::label, x, 4, where);
    return apply_node(conv2d_transpose_op(w), where, x, f);
}
/// Computes a transposed convolution: conv2d_transpose<window{.strides = {2, 2}, .padding = padding::same}>(x, f). x is [batch, height,
/// width, channels], and f is [height, width, outputs, channels]. The result here has twice the height and width.
template <window W = window{}, graph_operand X, graph_operand F>
auto conv2d_transpose(const X& x, const F& f, const std::source_location& where = std::source_location::current()) {
    if constexpr (typed_operand<X> && typed_operand<F>) {
        using E = extents_of<X>;
        using G = extents_of<F>;
        static_assert(detail::is_image<E::rank, 2>,
                      "conv2d_transpose: the image must have the dimensions [batch, height, width, channels]");
        static_assert(detail::is_image<G::rank, 2>,
                      "conv2d_transpose: the filter must have the dimensions [height, width, outputs, channels]");
        static_assert(dtypes_agree<dtype_tag<X>, dtype_tag<F>>,
                      "conv2d_transpose: the dtypes differ; convert with cast<T>()");
        if constexpr (detail::is_image<E::rank, 2> && detail::is_image<G::rank, 2>) {
            constexpr bool channels = detail::channels_agree<E::value[3], G::value[3]>;
            static_assert(channels, "conv2d_transpose: the channels of image and filter differ; images are "
                                    "[batch, height, width, channels]");
            static_assert(!channels || transpose_fits<E, G, W>, "conv2d_transpose: a number of the window is wrong");
        }
        constexpr auto rule = [](const dims& image, const dims& filter) {
            return rules::convolution_transpose(image, filter, W);
        };
        return apply_node(conv2d_transpose_op(W), rule, where, x, f);
    } else {
        return conv2d_transpose(x, f, W, where);
    }
}

}} // namespace rill::RILL_ABI

#if RILL_DEFINE
namespace rill { inline namespace RILL_ABI {

RILL_INLINE std::vector<tensor_type> conv2d_transpose_op::outputs(std::span<const tensor_type> in) const {
    detail::check_same_types(in);
    return {detail::checked_window_result(in[0].type, rules::convolution_transpose(in[0].shape, in[1].shape, at()))};
}

RILL_INLINE std::vector<endpoint> conv2d_transpose_op::gradient(const gradient_request& r) const {
    const endpoint g = r.gradient(), f = r.input(1);
    std::vector<endpoint> d(2);
    if (r.wanted[0]) d[0] = r.add<conv2d_transpose_op>(with_window<conv2d_op>(), {g, f});
    if (r.wanted[1]) d[1] = r.add<conv2d_transpose_op>(with_window<conv2d_backprop_filter_op>(), {g, f, r.input(0)});
    return d;
}

}} // namespace rill::RILL_ABI
#endif
