// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>

#include <rill/ops/linalg/row_epilogue.hpp>
#include <rill/ops/nn/window/convolution_op.hpp>

namespace rill { inline namespace RILL_ABI {

struct conv2d_op;
struct conv2d_backprop_input_op;
struct conv2d_backprop_filter_op;
struct conv2d_row_op;

namespace detail {

template <class Self, convolution_part Part>
using dense_convolution =
    convolution_op<Self, Part, false, conv2d_op, conv2d_backprop_input_op, conv2d_backprop_filter_op>;

} // namespace detail

/// Convolves images with 1 to 3 axes with a filter. [batch, in.., channels] and [size.., channels, outputs] give [batch, out.., outputs].
/// TensorFlow's Conv3D is this op over one more axis. Gradients: Conv2DBackpropInput and Conv2DBackpropFilter.
struct conv2d_op : detail::dense_convolution<conv2d_op, convolution_part::forward> {
    static constexpr auto name = "Conv2D", label = "conv2d";
    using brings = op_list<conv2d_op, conv2d_backprop_input_op, conv2d_backprop_filter_op, conv2d_row_op>;
    using convolution_op::convolution_op;

    /// Fuses a bias and its relu into the convolution. Returns nullopt if that is not possible.
    std::optional<conv2d_row_op> fuse_epilogue(const fused_spec& next, std::span<const tensor_type> in) const;
};

/// Computes the gradient of a convolution for its image. Inputs: a tensor of the image's shape, whose values are not read, the filter, and
/// the gradient of the result. Gradients: Conv2DBackpropFilter for the filter, Conv2D for the gradient.
struct conv2d_backprop_input_op : detail::dense_convolution<conv2d_backprop_input_op, convolution_part::input> {
    static constexpr auto name = "Conv2DBackpropInput", label = "conv2d_backprop_input";
    using convolution_op::convolution_op;
};

/// Computes the gradient of a convolution for its filter. Inputs: the image, a tensor of the filter's shape, whose values are not read, and
/// the gradient of the result. Gradients: Conv2DBackpropInput for the image, Conv2D for the gradient.
struct conv2d_backprop_filter_op : detail::dense_convolution<conv2d_backprop_filter_op, convolution_part::filter> {
    static constexpr auto name = "Conv2DBackpropFilter", label = "conv2d_backprop_filter";
    using convolution_op::convolution_op;
};

/// Convolves images, adds a number to each output channel, and optionally applies relu. Plans create it from a convolution and a sum
/// that is its only reader. Inputs: image, filter and bias [outputs].
struct conv2d_row_op : detail::window_op {
    static constexpr auto name = "Conv2DRow", label = "conv2d";
    static constexpr int inputs = 3;
    static constexpr auto no_gradient = "plans make it of nodes that have theirs";
    using domain_type = domains::real_floating;
    using compiled_types = types::floats;
    bool rectified = false;

    static void fields(auto& op, auto& visit) {
        window_op::fields(op, visit);
        visit("rectified", op.rectified);
    }
    std::vector<tensor_type> outputs(std::span<const tensor_type> in) const;
    op_cost cost(std::span<const tensor_type> in, std::span<const tensor_type> out) const {
        return detail::convolution_cost(in[0].shape, in[1].shape, at(), false, in, out);
    }
    template <class D, class T> kernel bind(kernel_request& request) const {
        const auto s = detail::shape_of_convolution(request.inputs[0].shape, request.inputs[1].shape, at(), false);
        return detail::convolution_kernel<D, T>(
            convolution_part::forward, s, request,
            [to_zero = rectified](const kernel_args& a) { return product_epilogue<T>{a.in<T>(2), to_zero}; });
    }
};

/// Convolves images: conv2d<window{.strides = {2, 2}, .padding = padding::same}>(x, f). x is [batch, height, width, channels], and f is
/// [height, width, channels, outputs]. A bias and a relu around it are fused with it.
template <window W = window{}, graph_operand X, graph_operand F>
auto conv2d(const X& x, const F& f, const std::source_location& where = std::source_location::current()) {
    return detail::add_convolution<conv2d_op, false, 2, W>("conv2d", x, f, where);
}
/// Convolves with a window known only at run time.
template <graph_operand X, graph_operand F>
any_tensor conv2d(const X& x, const F& f, const window& w,
                  const std::source_location& where = std::source_location::current()) {
    return detail::add_convolution<conv2d_op>("conv2d", 2, x, f, w, where);
}

namespace detail {

constexpr rill::window dilated_by(index_t rate, rill::padding::kind padding) {
    rill::window w;
    w.dilations = {rate, rate};
    w.padding = padding;
    return w;
}

} // namespace detail

/// Convolves with dilations: atrous_conv2d<2, padding::same>(x, f) reads every second pixel.
template <index_t Rate, padding::kind Padding = padding::valid, graph_operand X, graph_operand F>
auto atrous_conv2d(const X& x, const F& f, const std::source_location& where = std::source_location::current()) {
    static_assert(Rate >= 1, "atrous_conv2d: the rate must be at least 1");
    return conv2d<detail::dilated_by(Rate, Padding)>(x, f, where);
}

/// Convolves volumes x [batch, depth, height, width, channels] with f [depth, height, width, channels, outputs].
template <window W = window{}, graph_operand X, graph_operand F>
auto conv3d(const X& x, const F& f, const std::source_location& where = std::source_location::current()) {
    return detail::add_convolution<conv2d_op, false, 3, W>("conv3d", x, f, where);
}
/// Convolves volumes with a window known only at run time.
template <graph_operand X, graph_operand F>
any_tensor conv3d(const X& x, const F& f, const window& w,
                  const std::source_location& where = std::source_location::current()) {
    return detail::add_convolution<conv2d_op>("conv3d", 3, x, f, w, where);
}
/// Convolves sequences x [batch, width, channels] with f [width, channels, outputs].
template <window W = window{}, graph_operand X, graph_operand F>
auto conv1d(const X& x, const F& f, const std::source_location& where = std::source_location::current()) {
    return detail::add_convolution<conv2d_op, false, 1, W>("conv1d", x, f, where);
}
/// Convolves sequences with a window known only at run time.
template <graph_operand X, graph_operand F>
any_tensor conv1d(const X& x, const F& f, const window& w,
                  const std::source_location& where = std::source_location::current()) {
    return detail::add_convolution<conv2d_op>("conv1d", 1, x, f, w, where);
}

}} // namespace rill::RILL_ABI

#if RILL_DEFINE
namespace rill { inline namespace RILL_ABI {

RILL_INLINE std::optional<conv2d_row_op> conv2d_op::fuse_epilogue(const fused_spec& next,
                                                                  std::span<const tensor_type> in) const {
    const auto epilogue = detail::row_epilogue_of(next, in);
    if (!epilogue) return std::nullopt;
    // All extents that could cause an error must be known here. The fused node would report a convolution's error at the
    // place of the sum.
    if (!in[1].shape.complete()) return std::nullopt;
    const auto result = rules::convolution(in[0].shape, in[1].shape, at());
    if (!result.ok() || !in[0].shape.known_rank() || in[2].shape.rank != 1) return std::nullopt;
    for (int i = 1; i < in[0].shape.rank; ++i)
        if (in[0].shape[i] == dyn) return std::nullopt;
    if (in[2].shape[0] == dyn || in[2].shape[0] != result.shape[result.shape.rank - 1]) return std::nullopt;
    auto made = with_window<conv2d_row_op>();
    made.rectified = epilogue->rectified;
    return made;
}

RILL_INLINE std::vector<tensor_type> conv2d_row_op::outputs(std::span<const tensor_type> in) const {
    detail::check_same_types(in);
    const auto result = detail::checked_window_result(in[0].type, rules::convolution(in[0].shape, in[1].shape, at()));
    const auto& row = in[2].shape;
    if (row.known_rank() &&
        (row.rank != 1 || !rules::extents_compatible(row[0], rules::extent_along(result.shape, -1))))
        throw invalid_argument("a number for each output channel of " + to_string(result.shape) + " is expected, not " +
                               to_string(row));
    return {result};
}

}} // namespace rill::RILL_ABI
#endif
