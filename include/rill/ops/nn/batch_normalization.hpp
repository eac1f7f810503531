// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tuple>

#include <rill/ops/array/size.hpp>
#include <rill/ops/math/cast.hpp>
#include <rill/ops/math/greater.hpp>
#include <rill/ops/math/maximum.hpp>
#include <rill/ops/math/mul.hpp>
#include <rill/ops/math/rsqrt.hpp>
#include <rill/ops/math/select.hpp>
#include <rill/ops/nn/moments.hpp>

namespace rill { inline namespace RILL_ABI {

/// Computes (x - mean) / sqrt(variance + epsilon) * scale + offset. Each parameter has one number for each channel, the last axis.
/// Shape: that of x. An expression, which fuses to one pass. Gradients: to all five.
template <graph_operand X, graph_operand M, graph_operand V, graph_operand O, graph_operand S>
auto batch_normalization(const X& x, const M& mean, const V& variance, const O& offset, const S& scale,
                         double epsilon = 1e-3) {
    return (x - mean) * (rsqrt(variance + epsilon) * scale) + offset;
}

namespace detail {

template <class X, int... I>
auto moments_over(const X& x, std::integer_sequence<int, I...>, const std::source_location& where) {
    return rill::moments<I...>(x, where);
}

/// Returns the unbiased variance of x [.., channels], given the biased one: n / (n - 1) times as large, for n numbers a channel.
template <typed_operand X, graph_operand V>
auto unbiased_variance(const X& x, const V& variance, const std::source_location& where) {
    const auto elements =
        cast<double>(size<std::int64_t>(x, where)) / maximum(cast<double>(size<std::int64_t>(variance, where)), 1.);
    return sealed(variance * cast<value_type_of<X>>(elements / maximum(elements - 1., 1.)));
}

/// Returns the variance of a batch for a moving average: of images (rank 4) the unbiased one, as in TensorFlow's fused op.
template <typed_operand X, graph_operand V>
auto moving_variance_of(const X& x, const V& variance, const std::source_location& where) {
    if constexpr (extents_of<X>::rank == 4)
        return unbiased_variance(x, variance, where);
    else
        return variance;
}

/// True if all extents are known and none is 0.
template <class E> inline constexpr bool has_elements = static_dims<E>.complete() && static_dims<E>.size() > 0;

/// Returns a moment of x, or `otherwise` if x is empty: the moments of no numbers are NaN.
template <typed_operand X, typed_operand M, typed_operand O>
auto unless_empty(const X& x, const M& moment, const O& otherwise, const std::source_location& where) {
    if constexpr (has_elements<extents_of<X>>)
        return moment;
    else
        return sealed(select(size<std::int64_t>(x, where) > std::int64_t(0), moment, otherwise));
}

} // namespace detail

/// Normalizes x [.., channels] by the mean and variance of the batch, over all axes but the last: auto [y, mean, variance] =
/// fused_batch_norm(x, scale, offset). The returned variance is unbiased, as in TensorFlow, for moving averages. y uses the biased
/// variance. It consists of moments and one fused pass. Gradients: of all three results, also through mean and variance.
template <typed_operand X, graph_operand S, graph_operand O>
auto fused_batch_norm(const X& x, const S& scale, const O& offset, double epsilon = 1e-3,
                      const std::source_location& where = std::source_location::current()) {
    static_assert(extents_of<X>::rank >= 2, "fused_batch_norm: the tensor must have the dimensions [.., channels]");
    static_assert(is_real_floating<value_type_of<X>>, "fused_batch_norm: the element type is not floating");
    const auto all = sealed(x); // read by the moments and by the fused pass
    const auto axes = std::make_integer_sequence<int, extents_of<X>::rank - 1>{};
    const auto [mean, variance] = detail::moments_over(all, axes, where);
    const auto y = sealed(batch_normalization(all, mean, variance, offset, scale, epsilon));
    return std::tuple(y, mean, detail::unbiased_variance(all, variance, where));
}

}} // namespace rill::RILL_ABI
