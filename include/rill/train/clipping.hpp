// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <concepts>
#include <vector>

#include <rill/ops/math/add_n.hpp>
#include <rill/ops/math/div.hpp>
#include <rill/ops/math/greater.hpp>
#include <rill/ops/math/maximum.hpp>
#include <rill/ops/math/mul.hpp>
#include <rill/ops/math/reduce_sum.hpp>
#include <rill/ops/math/select.hpp>
#include <rill/ops/math/sqrt.hpp>
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

/// x, scaled by its norm, of which the square is given.
template <class X, class S, class N> auto clipped_by_norm(const X& x, const S& squares, const N& clip_norm) {
    // the root's slope at 0 is infinite: it is not taken there
    const auto norm = sealed(sqrt(select(squares > 0, squares, 1)));
    return x * select(squares > 0, clip_norm / maximum(norm, clip_norm), 1);
}

} // namespace detail

/// x, scaled down to an l2 norm of clip_norm where it is longer: clip_by_norm(x, 5.f), or of each row, clip_by_norm<1>(x, 5.f).
/// Shape: that of x. Gradient: that of the formula; where the norm is 0, g.
template <int... Axes, graph_operand X, class N>
    requires(graph_operand<N> || literal<N>)
auto clip_by_norm(const X& x, const N& clip_norm) {
    if constexpr (typed_operand<X>)
        static_assert(is_real_floating<value_type_of<X>>, "clip_by_norm: the element type is not floating");
    if constexpr (sizeof...(Axes) == 0)
        return detail::clipped_by_norm(x, sealed(reduce_sum(square(x))), clip_norm);
    else
        return detail::clipped_by_norm(x, sealed(reduce_sum<Axes...>(square(x), keep_dims)), clip_norm);
}
/// Along axes known at run time only: clip_by_norm(x, 5.f, {1}).
template <graph_operand X, class N>
    requires(graph_operand<N> || literal<N>)
any_tensor clip_by_norm(const X& x, const N& clip_norm, const axis_list& axes,
                        const std::source_location& where = std::source_location::current()) {
    const any_tensor all = detail::floating_tensor("clip_by_norm", x, where);
    return detail::clipped_by_norm(all, reduce_sum(square(all), axes, keep_dims, where), clip_norm);
}

namespace detail {

/// What norms and scales are taken of: the slices of a gradient that is rows, else the tensor itself.
endpoint values_of_gradient(const endpoint& e);
/// The gradient with other values.
endpoint with_values(const endpoint& gradient, const endpoint& values);

template <class N> endpoint scaled_gradient(const any_tensor& gradient, const N& scale) {
    return with_values(gradient, sealed(any_tensor(values_of_gradient(gradient)) * scale).end());
}

/// Of all of them; refuses none at all.
std::vector<any_tensor> tensors_of_norm(const std::vector<any_tensor>& tensors, const std::source_location& where);
std::vector<any_tensor> gradients_of(const std::vector<gradient_and_variable>& pairs);

} // namespace detail

/// The l2 norm of tensors as if they were one long vector; null ones don't count. Of a gradient that is rows (of gather along axis
/// 0), that of its slices, as in TensorFlow: where an id comes twice, they are not added first.
template <std::same_as<any_tensor> T =
              any_tensor> // its operations depend on it: only programs that call it have their kernels
T global_norm(const std::vector<T>& tensors, const std::source_location& where = std::source_location::current()) {
    std::vector<T> squares;
    for (const T& t : detail::tensors_of_norm(tensors, where)) squares.emplace_back(reduce_sum(square(t)));
    return sqrt(add_n(squares, where));
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
    const T norm = use_norm ? use_norm : global_norm<T>(tensors, where);
    const T scale = (clip_norm + (norm - norm)) / maximum(norm, clip_norm);
    clipped_tensors all{tensors, norm};
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
