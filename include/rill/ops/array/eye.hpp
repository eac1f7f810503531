// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/array/broadcast_to.hpp>
#include <rill/ops/array/fill.hpp>

namespace rill { inline namespace RILL_ABI {

namespace detail {

template <class T> any_array eye_array(index_t rows, index_t columns) {
    any_array all = filled_array(dims{rows, columns}, T(0));
    for (index_t i = 0; i < std::min(rows, columns); ++i) static_cast<T*>(all.mutable_data())[i * columns + i] = T(1);
    return all;
}

} // namespace detail

/// Returns a constant matrix with ones on its diagonal: eye<float, 3>(). eye<float, 2, 3>() is rectangular.
template <element T, index_t Rows, index_t Columns = Rows>
auto eye(const std::source_location& where = std::source_location::current()) {
    static_assert(is_numeric<T>, "eye: the element type is not a number");
    static_assert(static_extents<Rows, Columns>, "eye: every extent must be known; eye<T>(n) takes it at run time");
    return constant_value<T, Rows, Columns>(detail::eye_array<T>(Rows == dyn ? 0 : Rows, Columns == dyn ? 0 : Columns),
                                            where);
}
/// Returns an identity matrix of a size known only at run time.
template <element T>
auto eye(index_t rows, index_t columns, const std::source_location& where = std::source_location::current()) {
    static_assert(is_numeric<T>, "eye: the element type is not a number");
    if (rows < 0 || columns < 0) throw invalid_argument("eye: an extent is negative" + detail::at_place(where));
    return constant_value<T, dyn, dyn>(detail::eye_array<T>(rows, columns), where);
}
template <element T> auto eye(index_t n, const std::source_location& where = std::source_location::current()) {
    return eye<T>(n, n, where);
}
/// Returns a batch of identity matrices: eye<float>(3, 3, {2, 5}) has shape [2, 5, 3, 3].
template <element T>
any_tensor eye(index_t rows, index_t columns, const dims& batch,
               const std::source_location& where = std::source_location::current()) {
    dims shape = batch;
    shape.push(rows);
    shape.push(columns);
    return broadcast_to(eye<T>(rows, columns, where), shape, where);
}

}} // namespace rill::RILL_ABI
