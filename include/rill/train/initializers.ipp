// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/train/initializers.hpp>

#include <utility>

namespace rill { inline namespace RILL_ABI {

RILL_INLINE std::pair<double, double> variance_scaling::fans(const dims& shape) {
    if (shape.rank == 0) return {1, 1};
    if (shape.rank == 1) return {static_cast<double>(shape[0]), static_cast<double>(shape[0])};
    double field = 1;
    for (int i = 0; i < shape.rank - 2; ++i) field *= static_cast<double>(shape[i]);
    return {field * static_cast<double>(shape[shape.rank - 2]), field * static_cast<double>(shape[shape.rank - 1])};
}

}} // namespace rill::RILL_ABI
