// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <concepts>
#include <utility>
#include <vector>

#include <rill/ops/array/stop_gradient.hpp>
#include <rill/ops/math/add.hpp>
#include <rill/ops/math/add_n.hpp>
#include <rill/ops/math/div.hpp>
#include <rill/ops/math/greater.hpp>
#include <rill/ops/math/minimum.hpp>
#include <rill/ops/math/mul.hpp>
#include <rill/ops/math/reduce_l2_norm.hpp>
#include <rill/ops/math/reduce_sum.hpp>
#include <rill/ops/math/select.hpp>
#include <rill/ops/math/square.hpp>
#include <rill/ops/math/sub.hpp>
#include <rill/ops/nn/clip.hpp>
#include <rill/train/optimizer.hpp>

namespace rill { inline namespace RILL_ABI {

/// Limits x to [low, high]: TensorFlow's name of clip(x, low, high).
template <class X, class A, class B>
    requires(graph_operand<X> && (graph_operand<A> || literal<A>) && (graph_operand<B> || literal<B>))
auto clip_by_value(const X& x, const A& low, const B& high) {
    return clip(x, low, high);
}

namespace detail {

/// Returns x, multiplied by a scale of the widened type, in the type of x.
template <class X, class S> auto scaled(const X& x, const S& scale) { return narrowed(x, widened(x) * scale); }

/// Returns the factor that limits a vector of this norm to clip_norm. It is 1 if the norm is at most clip_norm or 0. Avoids 0 / 0 and
/// inf / inf, also in gradients.
template <class S, class N> auto clip_scale(const S& norm, const N& clip_norm) {
    const auto shortened = [&] {
        if constexpr (literal<N>)
            return minimum(clip_norm, norm);
        else
            return minimum(widened(clip_norm), norm);
    }();
    return sealed(select(norm > 0, shortened, 1) / select(norm > 0, norm, 1)); // one number, not one for each element
}

} // namespace detail

/// Scales x down to an l2 norm of clip_norm if its norm is larger: clip_by_norm(x, 5.f), or each row, clip_by_norm<1>(x, 5.f).
/// Shape: that of x. Gradient: that of the formula; where the norm is 0, g.
template <int... Axes, graph_operand X, class N>
    requires(graph_operand<N> || literal<N>)
auto clip_by_norm(const X& x, const N& clip_norm,
                  const std::source_location& where = std::source_location::current()) {
    if constexpr (typed_operand<X>) {
        static_assert(axes_exist<extents_of<X>, Axes...>, "clip_by_norm: an axis is out of range, or named twice");
        static_assert(is_real_floating<value_type_of<X>>, "clip_by_norm: the element type is not floating");
    }
    detail::require_floating("clip_by_norm", x, where);
    detail::require_axes<Axes...>("clip_by_norm", x, where);
    const auto norm = [&] {
        if constexpr (sizeof...(Axes) == 0)
            return detail::wide_l2_norm(x, where);
        else
            return detail::wide_l2_norm<Axes...>(x, where, keep_dims);
    }();
    return detail::scaled(x, detail::clip_scale(norm, clip_norm));
}
/// Takes axes that are known only at run time: clip_by_norm(x, 5.f, 1), clip_by_norm(x, 5.f, {0, 1}).
template <graph_operand X, class N, runtime_axes A = axis_list>
    requires(graph_operand<N> || literal<N>)
auto clip_by_norm(const X& x, const N& clip_norm, const A& axes,
                  const std::source_location& where = std::source_location::current()) {
    static_assert(are_real_floating<X>, "clip_by_norm: the element type is not floating");
    detail::require_floating("clip_by_norm", x, where);
    detail::require_axes("clip_by_norm", x, to_axes(axes), where);
    const auto norm = detail::wide_l2_norm_at(x, axes, keep_dims, where);
    const any_tensor made = detail::scaled(x, detail::clip_scale(norm, clip_norm));
    return detail::typed_result<void, X>(detail::shape_of_first, made);
}

namespace detail {

/// Returns the tensor that norms and scales apply to: the slices of a gradient by rows, else the tensor itself.
endpoint values_of_gradient(const endpoint& e);
/// Returns the gradient with other values.
endpoint with_values(const endpoint& gradient, const endpoint& values);

template <class N> endpoint scaled_gradient(const any_tensor& gradient, const N& scale) {
    const any_tensor values(values_of_gradient(gradient));
    return with_values(gradient, sealed(scaled(values, scale)).end());
}

/// Returns the tensors that count for the norm. Throws invalid_argument if all are null.
std::vector<any_tensor> tensors_of_norm(const std::vector<any_tensor>& tensors, const std::source_location& where);
std::vector<any_tensor> gradients_of(const std::vector<gradient_and_variable>& pairs);

/// Returns the l2 norm of tensors, none of them null, in the widened element type.
template <class T> T wide_global_norm(const std::vector<T>& tensors, const std::source_location& where) {
    require_kernel_for<l2_norm_op, T>();
    endpoint_list parts;
    std::vector<T> squares;
    for (const T& t : tensors) {
        const T elements = widened(t);
        parts.push_back(elements.end());
        squares.emplace_back(reduce_sum(square(elements)));
    }
    return add_l2_norm(std::move(parts), {combine::sum, {}, false}, add_n(squares, where).end(), &l2_norm_op::make,
                       where);
}

} // namespace detail

/// Returns the l2 norm of tensors as if they were one long vector. Null tensors don't count. The norm of a gradient by rows (of gather
/// along axis 0) is that of its slices, as in TensorFlow. Slices with equal ids are not added first.
template <std::same_as<any_tensor> T =
              any_tensor> // its operations depend on it: only programs that call it have their kernels
T global_norm(const std::vector<T>& tensors, const std::source_location& where = std::source_location::current()) {
    const auto values = detail::tensors_of_norm(tensors, where);
    return detail::narrowed(values[0], detail::wide_global_norm(values, where));
}
template <std::same_as<any_tensor> T = any_tensor>
T global_norm(const std::vector<gradient_and_variable>& pairs,
              const std::source_location& where = std::source_location::current()) {
    return global_norm<T>(detail::gradients_of(pairs), where);
}

/// The result of clip_by_global_norm: auto [tensors, norm] = ….
struct clipped_tensors {
    std::vector<any_tensor> tensors;
    any_tensor norm; // the norm before clipping
};
struct clipped_gradients {
    std::vector<gradient_and_variable> gradients;
    any_tensor norm; // the norm before clipping
};

/// Scales all tensors by clip_norm / global_norm if that is less than 1. The results are NaN if the norm is not finite. Gradients by
/// rows stay by rows, null tensors stay null. A norm that is already known may be given.
template <class N, std::same_as<any_tensor> T = any_tensor>
    requires(graph_operand<N> || literal<N>)
clipped_tensors clip_by_global_norm(const std::vector<T>& tensors, const N& clip_norm,
                                    const std::type_identity_t<T>& use_norm = {},
                                    const std::source_location& where = std::source_location::current()) {
    clipped_tensors all{tensors, use_norm};
    T norm;
    if (use_norm) {
        norm = detail::widened(use_norm);
    } else {
        const auto values = detail::tensors_of_norm(tensors, where);
        norm = detail::wide_global_norm(values, where);
        all.norm = detail::narrowed(values[0], norm);
    }
    // the difference is NaN for an infinite norm; its two gradients would swallow that of the scale
    const T scale = detail::clip_scale(norm, clip_norm) + stop_gradient(norm - norm);
    for (auto& t : all.tensors)
        if (t) t = detail::scaled_gradient(t, scale);
    return all;
}
/// Clips the gradients of pairs: auto [clipped, norm] = clip_by_global_norm(optimizer.compute_gradients(loss), 5.f);
/// optimizer.apply_gradients(clipped).
template <class N>
    requires(graph_operand<N> || literal<N>)
clipped_gradients clip_by_global_norm(const std::vector<gradient_and_variable>& pairs, const N& clip_norm,
                                      const any_tensor& use_norm = {},
                                      const std::source_location& where = std::source_location::current()) {
    const auto clipped = clip_by_global_norm(detail::gradients_of(pairs), clip_norm, use_norm, where);
    clipped_gradients all{pairs, clipped.norm};
    for (std::size_t i = 0; i < pairs.size(); ++i) all.gradients[i].gradient = clipped.tensors[i];
    return all;
}

}} // namespace rill::RILL_ABI

#if !RILL_COMPILED
#include <rill/train/clipping.ipp>
#endif
