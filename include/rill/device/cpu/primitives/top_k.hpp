// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>

#include <rill/device/cpu/primitives/windows.hpp>

namespace rill { inline namespace RILL_ABI { inline namespace RILL_ISA {

/// Writes the k largest elements of each row in descending order, and their indices. Equal elements keep their order; NaN counts as the
/// largest. `order` has room for `columns` numbers.
template <class T>
void largest_of_rows(const T* x, T* values, std::int32_t* ids, index_t rows, index_t columns, index_t k,
                     std::int32_t* order) {
    using C = compute_type<T>;
    for (index_t row = 0; row < rows; ++row, x += columns, values += k, ids += k) {
        std::iota(order, order + columns, 0);
        std::partial_sort(order, order + k, order + columns, [&](std::int32_t i, std::int32_t j) {
            const C a = static_cast<C>(x[i]), b = static_cast<C>(x[j]);
            const bool a_is_nan = detail::is_missing(a), b_is_nan = detail::is_missing(b);
            if (a_is_nan != b_is_nan) return a_is_nan;
            return a > b || (!(b > a) && i < j);
        });
        for (index_t i = 0; i < k; ++i) {
            ids[i] = order[i];
            values[i] = x[order[i]];
        }
    }
}

}}} // namespace rill::RILL_ABI::RILL_ISA
