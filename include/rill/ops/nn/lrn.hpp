// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/linalg/matmul.hpp>
#include <rill/ops/math/div.hpp>
#include <rill/ops/math/mul.hpp>
#include <rill/ops/math/pow.hpp>
#include <rill/ops/math/square.hpp>

namespace rill { inline namespace RILL_ABI {

struct lrn_options {
    index_t depth_radius = 5;
    double bias = 1, alpha = 1, beta = 0.5;
};

/// Computes the local response normalization: x / (bias + alpha * sum of squares of the channels within depth_radius)^beta. The channels
/// are the last axis; their number must be known when the node is built. The sums are a matrix product with a band of ones around the
/// diagonal. Shape: that of x.
template <typed_operand X>
auto lrn(const X& x, const lrn_options& o = {}, const std::source_location& where = std::source_location::current()) {
    using T = value_type_of<X>;
    static_assert(extents_of<X>::rank >= 2, "lrn: the tensor must have the dimensions [.., channels]");
    static_assert(is_real_floating<T>, "lrn: the element type is not floating");
    const auto all = sealed(x); // read twice
    const index_t channels = rules::extent_along(detail::operand_type(all).shape, -1);
    if (channels == dyn)
        throw invalid_argument("lrn: the number of channels must be known when the node is made" +
                               detail::at_place(where));
    any_array near(dtype_of<T>, dims{channels, channels});
    for (index_t i = 0; i < channels; ++i)
        for (index_t j = 0; j < channels; ++j)
            static_cast<T*>(near.mutable_data())[i * channels + j] =
                static_cast<T>(i - j <= o.depth_radius && j - i <= o.depth_radius ? 1.f : 0.f);
    constexpr index_t width = extents_of<X>::value[extents_of<X>::rank - 1];
    const constant_value<T, width, width> band(std::move(near), where);
    return all / pow(o.bias + o.alpha * matmul(square(all), band, where), o.beta);
}

}} // namespace rill::RILL_ABI
