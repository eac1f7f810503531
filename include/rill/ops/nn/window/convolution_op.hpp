// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/nn/window/window_op.hpp>

// The base of a convolution and its two gradients. Each is linear in both operands, so the gradients of each are the other two.

namespace rill { inline namespace RILL_ABI { namespace detail {

/// Returns the types of a convolution's outputs. The forward part takes image and filter. The input part takes an image for its shape, the
/// filter and the gradient. The filter part takes the image, a filter for its shape, and the gradient.
std::vector<tensor_type> convolution_outputs(convolution_part part, const rill::window& w, bool depthwise,
                                             std::span<const tensor_type> in);

/// Returns the shape of a convolution over operands of complete shapes.
convolution_shape shape_of_convolution(const dims& x, const dims& f, const rill::window& w, bool depthwise);

/// Returns the cost: two operations for each position of each window, channel and output.
op_cost convolution_cost(const dims& x, const dims& f, const rill::window& w, bool depthwise,
                         std::span<const tensor_type> in, std::span<const tensor_type> out);

/// Binds one part of a convolution. `last` returns the epilogue of a run.
template <class D, class T, class Last>
kernel convolution_kernel(convolution_part part, const convolution_shape& s, kernel_request& request,
                          const Last& last) {
    request.scratch_bytes = D::template convolution_scratch<T>(request.on, part, s);
    request.shared = D::template convolution_is_shared<T>(request.on, part, s);
    const bool empty = request.outputs[0].shape.size() == 0;
    return kernel([=](const kernel_args& a) {
        if (empty) return;
        switch (part) {
        case convolution_part::forward: return D::convolve(a.on, s, a.in<T>(0), a.in<T>(1), a.out<T>(0), last(a));
        case convolution_part::input: return D::convolve_input(a.on, s, a.in<T>(1), a.in<T>(2), a.out<T>(0));
        case convolution_part::filter: return D::convolve_filter(a.on, s, a.in<T>(0), a.in<T>(2), a.out<T>(0));
        }
    });
}

/// Binds one part of a depthwise convolution.
template <class D, class T>
kernel depthwise_kernel(convolution_part part, const convolution_shape& s, kernel_request& request) {
    if (part == convolution_part::filter) request.scratch_bytes = D::template depthwise_scratch<T>(s);
    request.shared = request.on.pool && windows_are_shared(s.window, s.in * s.out);
    const bool empty = request.outputs[0].shape.size() == 0;
    return kernel([=](const kernel_args& a) {
        if (empty) return;
        switch (part) {
        case convolution_part::forward: return D::depthwise_convolve(a.on, s, a.in<T>(0), a.in<T>(1), a.out<T>(0));
        case convolution_part::input: return D::depthwise_convolve_input(a.on, s, a.in<T>(1), a.in<T>(2), a.out<T>(0));
        case convolution_part::filter:
            return D::depthwise_convolve_filter(a.on, s, a.in<T>(0), a.in<T>(2), a.out<T>(0));
        }
    });
}

/// One part of a convolution. Self is the op; Forward, Input and Filter are the three parts.
template <class Self, convolution_part Part, bool Depthwise, class Forward, class Input, class Filter>
struct convolution_op : window_op {
    static constexpr int inputs = Part == convolution_part::forward ? 2 : 3;
    using domain_type = domains::real_floating;
    using compiled_types = types::floats;
    using brings = op_list<Forward, Input, Filter>;
    using window_op::window_op;

    std::vector<tensor_type> outputs(std::span<const tensor_type> in) const {
        return convolution_outputs(Part, at(), Depthwise, in);
    }
    static input_list shape_only_inputs() {
        if constexpr (Part == convolution_part::forward)
            return {};
        else
            return {Part == convolution_part::input ? 0 : 1};
    }
    std::vector<endpoint> gradient(const gradient_request& r) const {
        const endpoint g = r.gradient(), x = r.input(0), f = r.input(1);
        const auto add = [&]<class Op>(std::type_identity<Op>, endpoint_list operands) {
            return r.add<Self>(with_window<Op>(), std::move(operands));
        };
        const auto forward = std::type_identity<Forward>{};
        const auto by_input = std::type_identity<Input>{};
        const auto by_filter = std::type_identity<Filter>{};
        std::vector<endpoint> d(inputs);
        if constexpr (Part == convolution_part::forward) {
            if (r.wanted[0]) d[0] = add(by_input, {x, f, g});
            if (r.wanted[1]) d[1] = add(by_filter, {x, f, g});
        } else if constexpr (Part == convolution_part::input) { // here g is the input gradient, with the shape of x
            if (r.wanted[1]) d[1] = add(by_filter, {g, f, r.input(2)});
            if (r.wanted[2]) d[2] = add(forward, {g, f});
        } else { // here g is the filter gradient, with the shape of f
            if (r.wanted[0]) d[0] = add(by_input, {x, g, r.input(2)});
            if (r.wanted[2]) d[2] = add(forward, {x, g});
        }
        return d;
    }
    op_cost cost(std::span<const tensor_type> in, std::span<const tensor_type> out) const {
        return convolution_cost(in[0].shape, in[1].shape, at(), Depthwise, in, out);
    }
    template <class D, class T> kernel bind(kernel_request& request) const {
        const auto s = shape_of_convolution(request.inputs[0].shape, request.inputs[1].shape, at(), Depthwise);
        if constexpr (Depthwise)
            return depthwise_kernel<D, T>(Part, s, request);
        else
            return convolution_kernel<D, T>(Part, s, request, [](const kernel_args&) { return product_epilogue<T>(); });
    }
};

// Conditions of typed convolutions. Compilers print their arguments in errors.

template <int Rank, int Axes> inline constexpr bool is_image = Rank == Axes + 2;
template <index_t Channels, index_t Filter>
inline constexpr bool channels_agree = rules::extents_compatible(Channels, Filter);
/// True if the window W over the filter F fits the image X.
template <class X, class F, rill::window W>
inline constexpr bool window_fits = rules::convolution(static_dims<X>, static_dims<F>, W).ok();

/// Adds a convolution over images of so many axes, with a window known only at run time. `label` names the function in the error of a wrong
/// rank.
template <class Op, class X, class F>
any_tensor add_convolution(const char* label, int axes, const X& x, const F& f, const rill::window& w,
                           const std::source_location& where) {
    require_rank(label, x, axes + 2, where);
    require_rank(label, f, axes + 2, where);
    return apply_node(Op(w), where, x, f);
}
/// Adds a convolution over images of `Axes` axes. `label` names the function in the error of a wrong rank.
template <class Op, bool Depthwise, int Axes, rill::window W, class X, class F>
auto add_convolution(const char* label, const X& x, const F& f, const std::source_location& where) {
    if constexpr (typed_operand<X> && typed_operand<F>) {
        using E = extents_of<X>;
        using G = extents_of<F>;
        static_assert(is_image<E::rank, Axes>, "convolution: the image must have the dimensions [batch, .., channels]");
        static_assert(is_image<G::rank, Axes>,
                      "convolution: the filter must have the dimensions [size.., channels, outputs]");
        static_assert(dtypes_agree<rill::dtype_tag<X>, rill::dtype_tag<F>>,
                      "convolution: the dtypes differ; convert with cast<T>()");
        static_assert(is_real_floating<value_type_of<X>>, "convolution: the element type is not floating");
        if constexpr (is_image<E::rank, Axes> && is_image<G::rank, Axes>) {
            static_assert(channels_agree<E::value[Axes + 1], G::value[Axes]>,
                          "convolution: the channels of image and filter differ; images are [batch, .., channels]");
            if constexpr (channels_agree<E::value[Axes + 1], G::value[Axes]>)
                static_assert(window_fits<E, G, W>,
                              "convolution: the window is larger than the image, or a number of the window is wrong");
        }
        constexpr auto rule = [](const dims& image, const dims& filter) {
            return rules::convolution(image, filter, W, Depthwise);
        };
        return apply_node(Op(W), rule, where, x, f);
    } else {
        return add_convolution<Op>(label, Axes, x, f, W, where);
    }
}

}}} // namespace rill::RILL_ABI::detail

#if RILL_DEFINE
namespace rill { inline namespace RILL_ABI { namespace detail {

RILL_INLINE std::vector<tensor_type> convolution_outputs(convolution_part part, const rill::window& w, bool depthwise,
                                                         std::span<const tensor_type> in) {
    check_same_types(in);
    const auto result = checked_window_result(in[0].type, rules::convolution(in[0].shape, in[1].shape, w, depthwise));
    if (part == convolution_part::forward) return {result};
    check_gradient_of_window(in[2], result.shape);
    return {in[part == convolution_part::input ? 0 : 1]};
}

RILL_INLINE convolution_shape shape_of_convolution(const dims& x, const dims& f, const rill::window& w,
                                                   bool depthwise) {
    convolution_shape s;
    (void)rules::convolution(x, f, w, depthwise, &s.window);
    s.in = f[f.rank - 2];
    s.out = f[f.rank - 1];
    return s;
}

RILL_INLINE op_cost convolution_cost(const dims& x, const dims& f, const rill::window& w, bool depthwise,
                                     std::span<const tensor_type> in, std::span<const tensor_type> out) {
    const auto s = shape_of_convolution(x, f, w, depthwise);
    return {2 * static_cast<double>(s.window.batch * s.window.windows()) *
                static_cast<double>(s.window.positions() * s.in * s.out),
            total_bytes(in) + total_bytes(out)};
}

}}} // namespace rill::RILL_ABI::detail
#endif
