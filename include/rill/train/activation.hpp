// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/math/relu.hpp>
#include <rill/ops/math/sigmoid.hpp>
#include <rill/ops/math/tanh.hpp>
#include <rill/ops/nn/elu.hpp>
#include <rill/ops/nn/leaky_relu.hpp>
#include <rill/ops/nn/softmax.hpp>

namespace rill { inline namespace RILL_ABI {

/// Activations of layers. Any callable of one tensor serves as well.
namespace activation {
inline constexpr auto linear = [](const auto& x) { return x; };
inline constexpr auto relu = [](const auto& x) { return rill::relu(x); };
inline constexpr auto leaky_relu = [](const auto& x) { return rill::leaky_relu(x, 0.2); };
inline constexpr auto elu = [](const auto& x) { return rill::elu(x); };
inline constexpr auto sigmoid = [](const auto& x) { return rill::sigmoid(x); };
inline constexpr auto tanh = [](const auto& x) { return rill::tanh(x); };
inline constexpr auto softmax = [](const auto& x) { return rill::softmax(x); };
} // namespace activation

}} // namespace rill::RILL_ABI
