// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>

#include <rill/core/dims.hpp>

namespace rill { inline namespace RILL_ABI {

/// A block of a dense tensor, or every n-th of its elements: the first element, and the distance between neighbours along each axis. Both
/// count elements of the dense tensor.
struct strided_view {
    index_t begin = 0;
    std::array<index_t, max_rank> stride{};
};

/// A dense tensor that contains a value and is one element everywhere else.
struct padded_view {
    strided_view value;
    dims whole, before; // the shape of the padded tensor, and the elements before the value along each axis
    std::array<std::byte, 16> around{}; // the element, in the value's dtype
};

}} // namespace rill::RILL_ABI
