// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/math/atan2.hpp>
#include <rill/ops/math/imag.hpp>
#include <rill/ops/math/real.hpp>

namespace rill { inline namespace RILL_ABI {

/// Returns the angles of complex numbers in radians, from -pi to pi. The angle of 0 is 0. Shape: that of z.
template <graph_operand X> auto angle(const X& z, const std::source_location& where = std::source_location::current()) {
    return atan2(imag(z, where), real(z, where));
}

}} // namespace rill::RILL_ABI
