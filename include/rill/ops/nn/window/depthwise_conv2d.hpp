// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/nn/window/conv2d.hpp>

namespace rill { inline namespace RILL_ABI {

struct depthwise_conv2d_op;
struct depthwise_conv2d_backprop_input_op;
struct depthwise_conv2d_backprop_filter_op;

namespace detail {

template <class Self, convolution_part Part>
using depthwise_convolution = convolution_op<Self, Part, true, depthwise_conv2d_op, depthwise_conv2d_backprop_input_op,
                                             depthwise_conv2d_backprop_filter_op>;

} // namespace detail

/// Convolves each channel with its own filters. [batch, in.., channels] and [size.., channels, multiples] give [batch, out.., channels *
/// multiples]. Gradients: DepthwiseConv2dNativeBackpropInput and DepthwiseConv2dNativeBackpropFilter.
struct depthwise_conv2d_op : detail::depthwise_convolution<depthwise_conv2d_op, convolution_part::forward> {
    static constexpr auto name = "DepthwiseConv2dNative", label = "depthwise_conv2d";
    using convolution_op::convolution_op;
};

/// Computes the gradient of a depthwise convolution for its image. Inputs: a tensor of the image's shape, whose values are not read, the
/// filter, and the gradient of the result. Gradients: those of Conv2DBackpropInput, depthwise.
struct depthwise_conv2d_backprop_input_op
    : detail::depthwise_convolution<depthwise_conv2d_backprop_input_op, convolution_part::input> {
    static constexpr auto name = "DepthwiseConv2dNativeBackpropInput", label = "depthwise_conv2d_backprop_input";
    using convolution_op::convolution_op;
};

/// Computes the gradient of a depthwise convolution for its filter. Inputs: the image, a tensor of the filter's shape, whose values are not
/// read, and the gradient of the result. Gradients: those of Conv2DBackpropFilter, depthwise.
struct depthwise_conv2d_backprop_filter_op
    : detail::depthwise_convolution<depthwise_conv2d_backprop_filter_op, convolution_part::filter> {
    static constexpr auto name = "DepthwiseConv2dNativeBackpropFilter", label = "depthwise_conv2d_backprop_filter";
    using convolution_op::convolution_op;
};

/// Convolves each channel: depthwise_conv2d<window{.padding = padding::same}>(x, f). x is [batch, height, width, channels], and f is
/// [height, width, channels, multiples].
template <window W = window{}, graph_operand X, graph_operand F>
auto depthwise_conv2d(const X& x, const F& f, const std::source_location& where = std::source_location::current()) {
    return detail::add_convolution<depthwise_conv2d_op, true, 2, W>("depthwise_conv2d", x, f, where);
}
/// Convolves each channel with a window known only at run time.
template <graph_operand X, graph_operand F>
any_tensor depthwise_conv2d(const X& x, const F& f, const window& w,
                            const std::source_location& where = std::source_location::current()) {
    return detail::add_convolution<depthwise_conv2d_op>("depthwise_conv2d", 2, x, f, w, where);
}

/// Computes a depthwise convolution, then a pointwise (1 x 1) convolution: separable_conv2d<W>(x, f, p). f is [height, width, channels,
/// multiples], and p is [1, 1, channels * multiples, outputs].
template <window W = window{}, graph_operand X, graph_operand F, graph_operand P>
auto separable_conv2d(const X& x, const F& depthwise, const P& pointwise,
                      const std::source_location& where = std::source_location::current()) {
    return conv2d(depthwise_conv2d<W>(x, depthwise, where), pointwise, where);
}
/// Computes both convolutions with a window known only at run time. The window is that of the first.
template <graph_operand X, graph_operand F, graph_operand P>
any_tensor separable_conv2d(const X& x, const F& depthwise, const P& pointwise, const window& w,
                            const std::source_location& where = std::source_location::current()) {
    return conv2d(depthwise_conv2d(x, depthwise, w, where), pointwise, window{}, where);
}

}} // namespace rill::RILL_ABI
