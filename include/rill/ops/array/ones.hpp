// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/array/fill.hpp>

namespace rill { inline namespace RILL_ABI {

/// Returns a constant: ones<float, 2, 3>(). (Without template arguments, `ones` is the initializer of variables.)
template <element T, index_t... D> auto ones(const std::source_location& where = std::source_location::current()) {
    static_assert(has_zero_and_one<T>, "ones: the element type is not a number");
    static_assert(static_extents<D...>, "ones: every extent must be known; ones<T>(dims{...}) takes them at run time");
    return detail::filled_constant<T, D...>(static_cast<T>(1), where);
}
/// Returns ones of a shape known only at run time: ones<float>(dims{n, 4}).
template <element T>
any_tensor ones(const dims& shape, const std::source_location& where = std::source_location::current()) {
    static_assert(has_zero_and_one<T>, "ones: the element type is not a number");
    return detail::constant_node(detail::filled_array(shape, static_cast<T>(1), where), where);
}
/// Returns ones of a type and shape known only at run time.
inline any_tensor ones(dtype type, const dims& shape,
                       const std::source_location& where = std::source_location::current()) {
    return detail::constant_node(detail::filled_array(type, shape, 1), where);
}

}} // namespace rill::RILL_ABI
