// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/string/text.hpp>

namespace rill { inline namespace RILL_ABI {

/// Texts with the letters A to Z in lower case. All other bytes stay. Shape: that of x.
struct string_lower_op : detail::text_map {
    static constexpr auto name = "StringLower";

    template <class D, class T> kernel bind(kernel_request& request) const {
        return detail::map_texts<T>(request, [](const T& text) { return detail::with_letters(text, 'A', 'a'); });
    }
};

/// Returns the texts in lower case: string_lower(x).
template <graph_operand X>
auto string_lower(const X& x, const std::source_location& where = std::source_location::current()) {
    if constexpr (typed_operand<X>)
        static_assert(op_takes<string_lower_op, value_type_of<X>>, "string_lower: the element type is not string");
    return apply_node<std::string, std::string>(string_lower_op{}, detail::shape_of_first, where, x);
}

}} // namespace rill::RILL_ABI
