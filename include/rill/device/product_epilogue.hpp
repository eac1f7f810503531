// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include <rill/config.hpp>

namespace rill { inline namespace RILL_ABI {

/// What is done to a matrix product where it is computed, before it is stored: a row is added to each of its rows, and what is
/// below 0 then becomes 0.
template <class T> struct product_epilogue {
    const T* row = nullptr; // as long as the product's rows; null: none
    bool rectified = false;

    bool empty() const { return !row && !rectified; }
    /// The same for columns from the j-th on.
    product_epilogue from_column(std::int64_t j) const { return {row ? row + j : nullptr, rectified}; }
};

}} // namespace rill::RILL_ABI
