// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include <rill/config.hpp>

namespace rill { inline namespace RILL_ABI {

/// An epilogue of a matrix product, applied before the store: adds a row to every row (bias), then clamps below at 0 (ReLU).
template <class T> struct product_epilogue {
    const T* row = nullptr; // one element per column of the product; null: none
    bool rectified = false;

    bool empty() const { return !row && !rectified; }
    /// Returns the epilogue for the columns from j on.
    product_epilogue from_column(std::int64_t j) const { return {row ? row + j : nullptr, rectified}; }
};

}} // namespace rill::RILL_ABI
