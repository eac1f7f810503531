// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/core/number_text.hpp>
#include <rill/ops/string/text.hpp>

namespace rill { inline namespace RILL_ABI {

/// Texts without the whitespace at their ends. Whitespace is space, tab, line feed, carriage return, form feed and vertical tab. Shape:
/// that of x.
struct string_strip_op : detail::text_map {
    static constexpr auto name = "StringStrip";

    template <class D, class T> kernel bind(kernel_request& request) const {
        return detail::map_texts<T>(request, [](const T& text) { return std::string(detail::without_blanks(text)); });
    }
};

/// Returns the texts without whitespace at their ends: string_strip(x).
template <graph_operand X>
auto string_strip(const X& x, const std::source_location& where = std::source_location::current()) {
    if constexpr (typed_operand<X>)
        static_assert(op_takes<string_strip_op, value_type_of<X>>, "string_strip: the element type is not string");
    return apply_node<std::string, std::string>(string_strip_op{}, detail::shape_of_first, where, x);
}

}} // namespace rill::RILL_ABI
