// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tuple>

#include <rill/core/shared.hpp>
#include <rill/device/quantization.hpp>
#include <rill/expr/node_op.hpp>
#include <rill/ops/math/reduce_max.hpp>
#include <rill/ops/math/reduce_min.hpp>

// Conversions between real and quantised numbers. Ranges are operands: two floats, which may be computed at run time.

namespace rill { inline namespace RILL_ABI {

/// The element types of quantised numbers.
using quantized_types = type_set<qint8, quint8, qint32>;
/// The element types that quantised products accept.
using quantized_bytes = type_set<qint8, quint8>;

namespace detail {

/// A predicate for the width of a range: not negative, NaN or infinite.
struct range_width {
    template <class T> RILL_FN bool operator()(const T& of) const {
        const auto width = static_cast<double>(of);
        return width >= 0 && width - width == 0;
    }
};
struct width_of_range {
    RILL_FN std::array<double, 1> operator()(const std::array<double, 2>& r) const { return {r[1] - r[0]}; }
};
/// One end of a range, widened as in TensorFlow. The range includes 0 and is at least a hundredth of its largest magnitude wide.
template <bool High> struct usable_end {
    RILL_FN std::array<double, 1> operator()(const std::array<double, 2>& r) const {
        const double low = std::fmin(0., r[0]);
        if constexpr (!High) return {low};
        const double size = std::fmax(1., std::fmax(std::fabs(r[0]), std::fabs(r[1])));
        return {std::fmax(0., std::fmax(r[1], low + size * 0.01))};
    }
};
/// One end of the range of sums of products of two ranges.
template <class Q, bool High> struct product_end {
    RILL_FN std::array<double, 1> operator()(const std::array<double, 4>& r) const {
        const auto range = range_of_products<Q, Q>({static_cast<float>(r[0]), static_cast<float>(r[1])},
                                                   {static_cast<float>(r[2]), static_cast<float>(r[3])});
        return {static_cast<double>(High ? range.high : range.low)};
    }
};

/// Returns the site of the error "the range is empty, or an end of it is not a finite number". `what` names the range, and `of` is the
/// type of its tensor.
error_site_ptr range_site(const char* what, const tensor_type& of);
/// Fails the run if a range is empty or an end is not finite. Needs one float of scratch memory.
template <class D>
void check_range(const execution_context& on, const float* low, const float* high, const error_site& where) {
    auto* const width = static_cast<float*>(on.scratch);
    D::compute_scalars(on, width_of_range{}, std::array<const float*, 2>{low, high}, width);
    D::check(on, static_cast<const float*>(width), 1, range_width{}, where);
}
/// Throws invalid_argument unless the inputs from `first` on are floats of rank 0.
void check_range_inputs(std::span<const tensor_type> in, std::size_t first);
/// Throws invalid_argument unless an input has one of these types.
void check_quantized_input(const tensor_type& in, bool bytes_only);
/// The size of check_range's scratch memory, in bytes.
inline constexpr std::size_t range_scratch = 64;

/// Returns a host number as a constant, and a tensor unchanged.
template <class R> decltype(auto) range_operand(const R& end, const std::source_location& where) {
    if constexpr (graph_operand<R>)
        return (end);
    else
        return constant(static_cast<float>(end), where);
}

/// Compiles the kernels of an op for all its types if the operand's type is known only at run time.
template <class Op, class X> void require_quantized() {
    if constexpr (!typed_operand<X>)
        Op::domain_type::each([]<class T>(std::type_identity<T>) { require_kernel<Op, T>(); });
}

inline constexpr auto scalar_rule = [](const auto&...) { return shape_result{dims{}}; };

/// Returns a node's outputs as numbers of type Q and the two ends of their range.
template <class Q, class Rule, class X, class... More>
auto with_range(const any_tensor& made, Rule rule, const X&, const More&...) {
    const auto end = [&](int i) { return tensor<float>(unchecked, any_tensor(endpoint{made.node(), i})); };
    return std::tuple(typed_result<Q, X, More...>(rule, made), end(1), end(2));
}

} // namespace detail

/// The ends of a range: tensors of one float, or numbers.
template <class R>
concept range_end = graph_operand<R> || std::is_arithmetic_v<R>;

/// Quantised numbers from real ones. Inputs: float32 x and the ends of its range. The range is widened to include 0 and to allow rounding.
/// Outputs: the quantised numbers, and the ends of the widened range. Numbers outside it are clipped.
struct quantize_op {
    static constexpr auto name = "QuantizeV2", label = "quantize";
    static constexpr int inputs = 3;
    static constexpr auto no_gradient = "rounding is flat; fake_quant passes gradients through it";
    using domain_type = quantized_types;
    using compiled_types = quantized_types;
    dtype type = dtype::quint8;
    std::int32_t mode = 0; // a quantize_mode

    static void fields(auto& op, auto& visit) {
        visit("T", op.type);
        visit("mode", op.mode);
    }
    dtype kernel_type(std::span<const tensor_type>, std::span<const tensor_type>) const { return type; }
    std::vector<tensor_type> outputs(std::span<const tensor_type> in) const;
    template <class D, class T> kernel bind(kernel_request& request) const {
        request.scratch_bytes = detail::range_scratch;
        return kernel([n = request.inputs[0].shape.size(), by = detail::to_quantized{static_cast<quantize_mode>(mode)},
                       where = detail::range_site("the range", request.inputs[0])](const kernel_args& a) {
            const std::array given{a.in<float>(1), a.in<float>(2)};
            detail::check_range<D>(a.on, given[0], given[1], *where);
            D::compute_scalars(a.on, detail::usable_end<false>{}, given, a.out<float>(1));
            D::compute_scalars(a.on, detail::usable_end<true>{}, given, a.out<float>(2));
            const std::array<const float*, 2> range{a.out<float>(1), a.out<float>(2)};
            D::transform(a.on, n, by, a.in<float>(0), range, a.out<T>(0));
        });
    }
};

/// Quantised numbers converted to float32. Inputs: the numbers and the ends of their range.
struct dequantize_op {
    static constexpr auto name = "Dequantize";
    static constexpr int inputs = 3;
    static constexpr auto no_gradient = "quantised numbers have none";
    using domain_type = quantized_types;
    using compiled_types = quantized_types;
    std::int32_t mode = 0; // a quantize_mode

    static void fields(auto& op, auto& visit) { visit("mode", op.mode); }
    std::vector<tensor_type> outputs(std::span<const tensor_type> in) const;
    template <class D, class T> kernel bind(kernel_request& request) const {
        request.scratch_bytes = detail::range_scratch;
        return kernel([n = request.inputs[0].shape.size(), by = detail::to_real{static_cast<quantize_mode>(mode)},
                       where = detail::range_site("the range", request.inputs[0])](const kernel_args& a) {
            const std::array range{a.in<float>(1), a.in<float>(2)};
            detail::check_range<D>(a.on, range[0], range[1], *where);
            D::transform(a.on, n, by, a.in<T>(0), range, a.out<float>(0));
        });
    }
};

/// qint32 numbers converted to qint8 or quint8 with another range. Inputs: the numbers, the ends of their range, the ends of the new range.
/// Outputs: the numbers, and the ends of the new range.
struct requantize_op {
    static constexpr auto name = "Requantize";
    static constexpr int inputs = 5;
    static constexpr auto no_gradient = "quantised numbers have none";
    using domain_type = quantized_bytes;
    using compiled_types = quantized_bytes;
    dtype type = dtype::quint8;

    static void fields(auto& op, auto& visit) { visit("out_type", op.type); }
    dtype kernel_type(std::span<const tensor_type>, std::span<const tensor_type>) const { return type; }
    std::vector<tensor_type> outputs(std::span<const tensor_type> in) const;
    template <class D, class T> kernel bind(kernel_request& request) const {
        request.scratch_bytes = detail::range_scratch;
        return kernel([n = request.inputs[0].shape.size(), where = detail::range_site("the range", request.inputs[0]),
                       new_range = detail::range_site("the new range", request.outputs[0])](const kernel_args& a) {
            const std::array all{a.in<float>(1), a.in<float>(2), a.in<float>(3), a.in<float>(4)};
            detail::check_range<D>(a.on, all[0], all[1], *where);
            detail::check_range<D>(a.on, all[2], all[3], *new_range);
            D::transform(a.on, n, detail::to_other_range{}, a.in<qint32>(0), all, a.out<T>(0));
            for (const int i : {1, 2}) D::copy(a.on, dtype::float32, a.in<float>(i + 2), a.out<float>(i), 1);
        });
    }
};

/// The maximum of each quantised number and 0. Inputs and outputs: the numbers and the ends of their range, which stay.
struct quantized_relu_op {
    static constexpr auto name = "QuantizedRelu";
    static constexpr int inputs = 3;
    static constexpr auto no_gradient = "quantised numbers have none";
    using domain_type = quantized_types;
    using compiled_types = quantized_types;

    std::vector<tensor_type> outputs(std::span<const tensor_type> in) const;
    template <class D, class T> kernel bind(kernel_request& request) const {
        request.scratch_bytes = detail::range_scratch;
        return kernel([n = request.inputs[0].shape.size(),
                       where = detail::range_site("the range", request.inputs[0])](const kernel_args& a) {
            const std::array range{a.in<float>(1), a.in<float>(2)};
            detail::check_range<D>(a.on, range[0], range[1], *where);
            D::transform(a.on, n, detail::quantized_positive_part{}, a.in<T>(0), range, a.out<T>(0));
            for (const int i : {1, 2}) D::copy(a.on, dtype::float32, a.in<float>(i), a.out<float>(i), 1);
        });
    }
};

/// Returns quantised numbers and the ends of their range: auto [q, low, high] = quantize<quint8>(x, -1, 1). The integers of q represent
/// numbers in [low, high].
template <class Q, graph_operand X, range_end L, range_end H>
auto quantize(const X& x, const L& low, const H& high, quantize_mode mode = quantize_mode::min_combined,
              const std::source_location& where = std::source_location::current()) {
    static_assert(quantized_types::has<Q>, "quantize: to qint8, quint8 or qint32");
    if constexpr (typed_operand<X>)
        static_assert(std::is_same_v<value_type_of<X>, float>, "quantize: the elements must be float");
    quantize_op op;
    op.type = dtype_of<Q>;
    op.mode = static_cast<std::int32_t>(mode);
    const any_tensor made = apply_node<Q, Q>(op, detail::scalar_rule, where, x, detail::range_operand(low, where),
                                             detail::range_operand(high, where));
    return detail::with_range<Q>(made, [](const dims& shape) { return shape_result{shape}; }, x);
}

/// Returns the real numbers: dequantize(q, low, high).
template <graph_operand X, range_end L, range_end H>
auto dequantize(const X& x, const L& low, const H& high, quantize_mode mode = quantize_mode::min_combined,
                const std::source_location& where = std::source_location::current()) {
    if constexpr (typed_operand<X>)
        static_assert(quantized_types::has<value_type_of<X>>, "dequantize: the elements are not quantised");
    detail::require_quantized<dequantize_op, X>();
    constexpr auto rule = [](const dims& shape, const auto&...) { return shape_result{shape}; };
    return apply_node<float>(dequantize_op{static_cast<std::int32_t>(mode)}, rule, where, x,
                             detail::range_operand(low, where), detail::range_operand(high, where));
}

/// Returns qint32 numbers converted to one byte each: auto [q, low, high] = requantize<quint8>(sums, sums_low, sums_high, 0, 6).
template <class Q, graph_operand X, range_end L, range_end H, range_end NewL, range_end NewH>
auto requantize(const X& x, const L& low, const H& high, const NewL& new_low, const NewH& new_high,
                const std::source_location& where = std::source_location::current()) {
    static_assert(quantized_bytes::has<Q>, "requantize: to qint8 or quint8");
    if constexpr (typed_operand<X>)
        static_assert(std::is_same_v<value_type_of<X>, qint32>, "requantize: the elements must be qint32");
    const any_tensor made =
        apply_node<Q, Q>(requantize_op{dtype_of<Q>}, detail::scalar_rule, where, x, detail::range_operand(low, where),
                         detail::range_operand(high, where), detail::range_operand(new_low, where),
                         detail::range_operand(new_high, where));
    return detail::with_range<Q>(made, [](const dims& shape) { return shape_result{shape}; }, x);
}

/// Returns the range of the actual numbers: auto [low, high] = requantization_range(sums, sums_low, sums_high).
template <graph_operand X, range_end L, range_end H>
auto requantization_range(const X& x, const L& low, const H& high,
                          const std::source_location& where = std::source_location::current()) {
    const auto all = dequantize(x, low, high, quantize_mode::min_first, where);
    return std::tuple(reduce_min(all, where), reduce_max(all, where));
}

/// Returns the relu of quantised numbers: auto [q, low, high] = quantized_relu(x, x_low, x_high).
template <graph_operand X, range_end L, range_end H>
auto quantized_relu(const X& x, const L& low, const H& high,
                    const std::source_location& where = std::source_location::current()) {
    detail::require_quantized<quantized_relu_op, X>();
    constexpr auto rule = [](const dims& shape, const auto&...) { return shape_result{shape}; };
    const auto made = apply_node(quantized_relu_op{}, rule, where, x, detail::range_operand(low, where),
                                 detail::range_operand(high, where));
    const auto end = [&](int i) { return tensor<float>(detail::unchecked, any_tensor(endpoint{made.node(), i})); };
    return std::tuple(made, end(1), end(2));
}

}} // namespace rill::RILL_ABI

#if RILL_DEFINE
namespace rill { inline namespace RILL_ABI {

namespace detail {

class refused_range_site final : public error_site {
public:
    refused_range_site(const char* what, const tensor_type& of) : what_(what), of_(of) {}
    RILL_COLD error describe(const refused_element& width) const override {
        return invalid_argument(std::string(what_) +
                                " is empty, or an end of it is not a finite number: its width is " +
                                std::to_string(width.real()) + ", its tensor " + to_string(of_));
    }

private:
    const char* what_;
    const tensor_type of_;
};

RILL_COLD error_site_ptr range_site(const char* what, const tensor_type& of) {
    return detail::make_shared<const refused_range_site>(what, of);
}

RILL_COLD void check_range_inputs(std::span<const tensor_type> in, std::size_t first) {
    for (std::size_t i = first; i < in.size(); ++i)
        if (in[i].type != dtype::float32 || (in[i].shape.known_rank() && in[i].shape.rank != 0))
            throw invalid_argument("an end of a range must be one float32, not " + to_string(in[i]));
}

RILL_COLD void check_quantized_input(const tensor_type& in, bool bytes_only) {
    if (in.type == dtype::qint8 || in.type == dtype::quint8 || (!bytes_only && in.type == dtype::qint32)) return;
    throw invalid_argument(std::string(bytes_only ? "qint8 or quint8" : "quantised numbers") + " are expected, not " +
                           to_string(in));
}

} // namespace detail

RILL_INLINE std::vector<tensor_type> quantize_op::outputs(std::span<const tensor_type> in) const {
    detail::check_quantized_input({type, {}}, false);
    detail::check_range_inputs(in, 1);
    if (in[0].type != dtype::float32) throw invalid_argument("float32 is expected, not " + to_string(in[0]));
    return {{type, in[0].shape}, {dtype::float32, {}}, {dtype::float32, {}}};
}

RILL_INLINE std::vector<tensor_type> dequantize_op::outputs(std::span<const tensor_type> in) const {
    detail::check_quantized_input(in[0], false);
    detail::check_range_inputs(in, 1);
    return {{dtype::float32, in[0].shape}};
}

RILL_INLINE std::vector<tensor_type> requantize_op::outputs(std::span<const tensor_type> in) const {
    detail::check_quantized_input({type, {}}, true);
    detail::check_range_inputs(in, 1);
    if (in[0].type != dtype::qint32) throw invalid_argument("qint32 is expected, not " + to_string(in[0]));
    return {{type, in[0].shape}, {dtype::float32, {}}, {dtype::float32, {}}};
}

RILL_INLINE std::vector<tensor_type> quantized_relu_op::outputs(std::span<const tensor_type> in) const {
    detail::check_quantized_input(in[0], false);
    detail::check_range_inputs(in, 1);
    return {in[0], {dtype::float32, {}}, {dtype::float32, {}}};
}

}} // namespace rill::RILL_ABI
#endif
