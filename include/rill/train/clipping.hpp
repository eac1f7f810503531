// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <concepts>
#include <utility>
#include <vector>

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

/// TensorFlow's name of clip(x, low, high).
template <class X, class A, class B>
    requires(graph_operand<X> && (graph_operand<A> || literal<A>) && (graph_operand<B> || literal<B>))
auto clip_by_value(const X& x, const A& low, const B& high) {
    return clip(x, low, high);
}

namespace detail {

/// x times a scale of the widened type, in the type of x.
template <class X, class S> auto scaled(const X& x, const S& scale) { return narrowed(x, widened(x) * scale); }

/// What shortens a vector of this norm to one of clip_norm: 1 where it is as short, and where the norm is 0. Neither 0 / 0 nor inf / inf
/// comes up, in gradients either.
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

/// x, scaled down to an l2 norm of clip_norm where it is longer: clip_by_norm(x, 5.f), or of each row, clip_by_norm<1>(x, 5.f).
/// Shape: that of x. Gradient: that of the formula; where the norm is 0, g.
template <int... Axes, graph_operand X, class N>
    requires(graph_operand<N> || literal<N>)
auto clip_by_norm(const X& x, const N& clip_norm) {
    if constexpr (typed_operand<X>)
        static_assert(is_real_floating<value_type_of<X>>, "clip_by_norm: the element type is not floating");
    const auto norm = [&] {
        if constexpr (sizeof...(Axes) == 0)
            return detail::wide_l2_norm(x, {});
        else
            return detail::wide_l2_norm<Axes...>(x, {}, keep_dims);
    }();
    return detail::scaled(x, detail::clip_scale(norm, clip_norm));
}
/// Along axes known at run time only: clip_by_norm(x, 5.f, 1), clip_by_norm(x, 5.f, {0, 1}).
template <graph_operand X, class N, runtime_axes A = axis_list>
    requires(graph_operand<N> || literal<N>)
auto clip_by_norm(const X& x, const N& clip_norm, const A& axes,
                  const std::source_location& where = std::source_location::current()) {
    static_assert(are_real_floating<X>, "clip_by_norm: the element type is not floating");
    detail::require_floating("clip_by_norm", x, where);
    const auto norm = detail::wide_l2_norm_at(x, axes, keep_dims, where);
    const any_tensor made = detail::scaled(x, detail::clip_scale(norm, clip_norm));
    return detail::typed_result<void, X>(detail::shape_of_first, made);
}

namespace detail {

/// What norms and scales are taken of: the slices of a gradient that is rows, else the tensor itself.
endpoint values_of_gradient(const endpoint& e);
/// The gradient with other values.
endpoint with_values(const endpoint& gradient, const endpoint& values);

template <class N> endpoint scaled_gradient(const any_tensor& gradient, const N& scale) {
    const any_tensor values(values_of_gradient(gradient));
    return with_values(gradient, sealed(scaled(values, scale)).end());
}

/// Of all of them; refuses none at all.
std::vector<any_tensor> tensors_of_norm(const std::vector<any_tensor>& tensors, const std::source_location& where);
std::vector<any_tensor> gradients_of(const std::vector<gradient_and_variable>& pairs);

/// The norm of tensors, none of them null, in the type of widened elements.
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

/// The l2 norm of tensors as if they were one long vector; null ones don't count. Of a gradient that is rows (of gather along axis
/// 0), that of its slices, as in TensorFlow: where an id comes twice, they are not added first.
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

/// What clip_by_global_norm gives: auto [tensors, norm] = ….
struct clipped_tensors {
    std::vector<any_tensor> tensors;
    any_tensor norm; // before
};
struct clipped_gradients {
    std::vector<gradient_and_variable> gradients;
    any_tensor norm; // before
};

/// Tensors, all scaled by clip_norm / global_norm where that is less than 1; not numbers where the norm is not finite. Rows stay
/// rows, null tensors null. A norm that is known already may be given.
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
    const T scale = detail::clip_scale(norm, clip_norm) + (norm - norm);
    for (auto& t : all.tensors)
        if (t) t = detail::scaled_gradient(t, scale);
    return all;
}
/// auto [clipped, norm] = clip_by_global_norm(optimizer.compute_gradients(loss), 5.f); optimizer.apply_gradients(clipped).
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
