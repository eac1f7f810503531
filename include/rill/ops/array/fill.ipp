// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/array/fill.hpp>

#include <type_traits>

namespace rill::inline RILL_ABI {

namespace detail {

RILL_INLINE any_array filled_array(dtype type, const dims& shape, double value) {
    const scalar_value bits = scalar_of(type, value);
    any_array all;
    visit_dtype(type, [&]<class T>(std::type_identity<T>) {
        if constexpr (has_zero_and_one<T>) all = filled_array(shape, bits.as<T>());
    });
    return all;
}

RILL_INLINE any_tensor constant_node(any_array value, const std::source_location& where) {
    return add_constant(current_graph(), value, false, {}, where);
}

} // namespace detail

} // namespace rill::inline RILL_ABI
