// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/math/abs.hpp>
#include <rill/ops/math/add.hpp>
#include <rill/ops/math/less_equal.hpp>
#include <rill/ops/math/minimum.hpp>
#include <rill/ops/math/mul.hpp>
#include <rill/ops/math/reduce_mean.hpp>
#include <rill/ops/math/select.hpp>
#include <rill/ops/math/square.hpp>
#include <rill/ops/math/sub.hpp>

namespace rill { inline namespace RILL_ABI {

/// True if labels and predictions have the same shape, as far as both are known. They do not broadcast.
template <class A, class B> inline constexpr bool error_shapes_agree = rules::compatible(static_dims<A>, static_dims<B>);

namespace detail {
/// Returns delta, at most the largest number of the element type. No finite error exceeds that number.
double checked_delta(dtype type, double delta, const std::source_location& where);
void check_huber(const tensor_type& labels, const tensor_type& predictions, const std::source_location& where);
} // namespace detail

/// Computes the mean Huber loss over all elements, a scalar. The loss is e^2 / 2 for errors e within delta. Beyond delta it
/// is delta |e| - delta^2 / 2. Gradient to an element, before the mean: e, or delta times its sign.
template <graph_operand A, graph_operand B>
auto huber_loss(const A& labels, const B& predictions, double delta = 1,
                const std::source_location& where = std::source_location::current()) {
    if constexpr (typed_operand<A> && typed_operand<B>) {
        static_assert(dtypes_agree<dtype_tag<A>, dtype_tag<B>>,
                      "huber_loss: the dtypes differ; convert with cast<T>()");
        static_assert(error_shapes_agree<extents_of<A>, extents_of<B>>, "huber_loss: the shapes differ");
        static_assert(is_real_floating<value_type_of<A>>, "huber_loss: the element type is not floating");
        delta = detail::checked_delta(dtype_of<value_type_of<A>>, delta, where);
    } else {
        const any_tensor a = labels, b = predictions;
        detail::check_huber({a.dtype(), a.static_shape()}, {b.dtype(), b.static_shape()}, where);
        delta = detail::checked_delta(a.dtype(), delta, where);
    }
    const auto error = abs(predictions - labels);
    const auto within = minimum(error, delta); // the square of an infinite error would have a NaN gradient, though not chosen
    return reduce_mean(select(error <= delta, 0.5 * square(within), delta * (error - 0.5 * delta)), where);
}

}} // namespace rill::RILL_ABI

#if RILL_DEFINE
namespace rill { inline namespace RILL_ABI {

RILL_INLINE double detail::checked_delta(dtype type, double delta, const std::source_location& where) {
    if (!(delta > 0))
        throw invalid_argument("huber_loss: delta is " + std::to_string(delta) + ", and must be positive" +
                               at_place(where));
    const double largest = type == dtype::float32    ? static_cast<double>(std::numeric_limits<float>::max())
                           : type == dtype::half     ? 65504.
                           : type == dtype::bfloat16 ? 0x1.FEp127
                                                     : std::numeric_limits<double>::max();
    return std::min(delta, largest); // infinity times 0 would be NaN
}

RILL_INLINE void detail::check_huber(const tensor_type& labels, const tensor_type& predictions,
                                     const std::source_location& where) {
    const auto both = to_string(labels) + " and " + to_string(predictions);
    if (labels.type != predictions.type)
        throw invalid_argument("huber_loss: the dtypes differ: " + both + "; convert with cast<T>()" + at_place(where));
    if (!rules::compatible(labels.shape, predictions.shape))
        throw invalid_argument("huber_loss: the shapes differ: " + both + at_place(where));
}

}} // namespace rill::RILL_ABI
#endif
