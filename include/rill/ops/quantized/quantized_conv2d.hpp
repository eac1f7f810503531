// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/nn/window/convolution_op.hpp>
#include <rill/ops/quantized/quantize.hpp>

namespace rill { inline namespace RILL_ABI {

namespace detail {

/// Binds a convolution of quantised numbers. Inputs: image, filter, and the ends of both ranges. Outputs: sums as qint32, and the ends of
/// their range.
template <class D, class T> kernel quantized_convolution(kernel_request& request, const convolution_shape& s) {
    request.scratch_bytes = D::quantized_scratch(s);
    const bool empty = request.outputs[0].shape.size() == 0;
    return kernel([=, of_a = range_site("the range of the first operand", request.inputs[0]),
                   of_b = range_site("the range of the second operand", request.inputs[1])](const kernel_args& a) {
        const std::array ranges{a.in<float>(2), a.in<float>(3), a.in<float>(4), a.in<float>(5)};
        check_range<D>(a.on, ranges[0], ranges[1], *of_a);
        check_range<D>(a.on, ranges[2], ranges[3], *of_b);
        D::compute_scalars(a.on, product_end<T, false>{}, ranges, a.out<float>(1));
        D::compute_scalars(a.on, product_end<T, true>{}, ranges, a.out<float>(2));
        if (!empty) D::quantized_convolve(a.on, s, a.in<T>(0), a.in<T>(1), ranges, a.out<qint32>(0));
    });
}
/// Returns the output types for a shape. Throws invalid_argument if the operands' types differ, or the ranges are invalid.
std::vector<tensor_type> quantized_outputs(std::span<const tensor_type> in, const shape_result& r);

} // namespace detail

/// Products of quantised matrices [m, k] and [k, n], as qint32 with their own range. Inputs: the matrices, of one type, then the ends of
/// their ranges.
struct quantized_matmul_op {
    static constexpr auto name = "QuantizedMatMul", label = "quantized_matmul";
    static constexpr int inputs = 6;
    static constexpr auto no_gradient = "quantised numbers have none";
    using domain_type = quantized_bytes;
    using compiled_types = quantized_bytes;

    std::vector<tensor_type> outputs(std::span<const tensor_type> in) const;
    op_cost cost(std::span<const tensor_type> in, std::span<const tensor_type> out) const {
        return {2 * static_cast<double>(in[0].shape.size()) * static_cast<double>(out[0].shape[1]),
                detail::total_bytes(in) + detail::total_bytes(out)};
    }
    template <class D, class T> kernel bind(kernel_request& request) const {
        convolution_shape s; // each row is an image of one pixel
        s.window.batch = request.inputs[0].shape[0];
        s.in = request.inputs[0].shape[1];
        s.out = request.inputs[1].shape[1];
        return detail::quantized_convolution<D, T>(request, s);
    }
};

/// Convolution of quantised images [batch, height, width, channels] with a filter [height, width, channels, outputs] of the same type.
/// Padding counts as 0. Inputs and outputs: those of QuantizedMatMul.
struct quantized_conv2d_op : detail::window_op {
    static constexpr auto name = "QuantizedConv2D", label = "quantized_conv2d";
    static constexpr int inputs = 6;
    static constexpr auto no_gradient = "quantised numbers have none";
    using domain_type = quantized_bytes;
    using compiled_types = quantized_bytes;
    using window_op::window_op;

    std::vector<tensor_type> outputs(std::span<const tensor_type> in) const;
    op_cost cost(std::span<const tensor_type> in, std::span<const tensor_type> out) const {
        return detail::convolution_cost(in[0].shape, in[1].shape, at(), false, in, out);
    }
    template <class D, class T> kernel bind(kernel_request& request) const {
        return detail::quantized_convolution<D, T>(
            request, detail::shape_of_convolution(request.inputs[0].shape, request.inputs[1].shape, at(), false));
    }
};

/// Returns the product as qint32: auto [sums, low, high] = quantized_matmul(a, b, a_low, a_high, b_low, b_high). requantize converts it to
/// bytes.
template <graph_operand A, graph_operand B, range_end AL, range_end AH, range_end BL, range_end BH>
auto quantized_matmul(const A& a, const B& b, const AL& a_low, const AH& a_high, const BL& b_low, const BH& b_high,
                      const std::source_location& where = std::source_location::current()) {
    detail::require_quantized<quantized_matmul_op, A>();
    constexpr auto rule = [](const dims& x, const dims& y, const auto&...) { return rules::matmul(x, y); };
    const any_tensor made =
        apply_node<qint32>(quantized_matmul_op{}, rule, where, a, b, detail::range_operand(a_low, where),
                           detail::range_operand(a_high, where), detail::range_operand(b_low, where),
                           detail::range_operand(b_high, where));
    return detail::with_range<qint32>(made, [](const dims& x, const dims& y) { return rules::matmul(x, y); }, a, b);
}

/// Returns the convolution as qint32: auto [sums, low, high] = quantized_conv2d<window{.padding = padding::same}>(x, f, x_low, x_high,
/// f_low, f_high).
template <window W = window{}, graph_operand X, graph_operand F, range_end XL, range_end XH, range_end FL, range_end FH>
auto quantized_conv2d(const X& x, const F& f, const XL& x_low, const XH& x_high, const FL& f_low, const FH& f_high,
                      const std::source_location& where = std::source_location::current()) {
    detail::require_quantized<quantized_conv2d_op, X>();
    constexpr auto rule = [](const dims& image, const dims& filter, const auto&...) {
        return rules::convolution(image, filter, W);
    };
    const any_tensor made =
        apply_node<qint32>(quantized_conv2d_op(W), rule, where, x, f, detail::range_operand(x_low, where),
                           detail::range_operand(x_high, where), detail::range_operand(f_low, where),
                           detail::range_operand(f_high, where));
    return detail::with_range<qint32>(
        made, [](const dims& image, const dims& filter) { return rules::convolution(image, filter, W); }, x, f);
}

}} // namespace rill::RILL_ABI

#if RILL_DEFINE
namespace rill { inline namespace RILL_ABI {

namespace detail {

RILL_INLINE std::vector<tensor_type> quantized_outputs(std::span<const tensor_type> in, const shape_result& r) {
    check_quantized_input(in[0], true);
    check_range_inputs(in, 2);
    if (in[0].type != in[1].type)
        throw invalid_argument("the dtypes differ: " + to_string(in[0]) + " and " + to_string(in[1]));
    if (!r.ok()) throw invalid_argument(r.reason());
    return {{dtype::qint32, r.shape}, {dtype::float32, {}}, {dtype::float32, {}}};
}

} // namespace detail

RILL_INLINE std::vector<tensor_type> quantized_matmul_op::outputs(std::span<const tensor_type> in) const {
    return detail::quantized_outputs(in, rules::matmul(in[0].shape, in[1].shape));
}

RILL_INLINE std::vector<tensor_type> quantized_conv2d_op::outputs(std::span<const tensor_type> in) const {
    return detail::quantized_outputs(in, rules::convolution(in[0].shape, in[1].shape, at()));
}

}} // namespace rill::RILL_ABI
#endif
