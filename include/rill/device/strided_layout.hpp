// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>

#include <rill/core/dims.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

/// A strided copy of one shape: the extents, and the strides of source and destination in elements.
struct strided_layout {
    int rank = 0;
    std::array<index_t, max_rank> extent{}, from{}, to{};

    void push(index_t e, index_t stride_from, index_t stride_to);

    /// Merges neighbouring dimensions that both sides traverse as one, and drops extents of 1.
    void collapse();
};

/// Returns the strides of a dense row-major tensor.
std::array<index_t, max_rank> dense_strides(const dims& shape);

}}} // namespace rill::RILL_ABI::detail

#if !RILL_COMPILED
#include <rill/device/strided_layout.ipp>
#endif
