// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>

#include <rill/expr/fused_op.hpp>

namespace rill { inline namespace RILL_ABI {

/// Every extent is known: what makes a constant needs all of them.
template <index_t... D> inline constexpr bool static_extents = extents<D...>::value.complete();
/// There are a zero and a one of the element type.
template <class T> inline constexpr bool has_zero_and_one = is_numeric<T> || std::is_same_v<T, bool>;

namespace detail {

template <class T> any_array filled_array(const dims& shape, const T& value) {
    if (!shape.complete()) throw invalid_argument("fill: the shape " + to_string(shape) + " is not known");
    any_array all(dtype_of<T>, shape);
    std::fill_n(static_cast<T*>(all.mutable_data()), all.size(), value);
    return all;
}

/// A constant of those extents; after a failed check, one without elements.
template <class T, index_t... D> auto filled_constant(const T& value, const std::source_location& where) {
    return constant_value<T, D...>(filled_array<T>(dims{(D == dyn ? 0 : D)...}, value), where);
}

any_tensor constant_node(any_array value, const std::source_location& where);

} // namespace detail

/// fill<2, 3>(7.f): a constant of one value.
template <index_t... D, element T>
auto fill(const T& value, const std::source_location& where = std::source_location::current()) {
    static_assert(static_extents<D...>, "fill: every extent must be known; fill(dims, value) takes them at run time");
    return detail::filled_constant<T, D...>(value, where);
}
/// Of a shape known at run time only.
template <element T>
any_tensor fill(const dims& shape, const T& value,
                const std::source_location& where = std::source_location::current()) {
    return detail::constant_node(detail::filled_array(shape, value), where);
}

}} // namespace rill::RILL_ABI

#if RILL_DEFINE
namespace rill { inline namespace RILL_ABI { namespace detail {

RILL_INLINE any_tensor constant_node(any_array value, const std::source_location& where) {
    return add_constant(current_graph(), value, false, {}, where);
}

}}} // namespace rill::RILL_ABI::detail
#endif
