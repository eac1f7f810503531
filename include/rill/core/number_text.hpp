// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <charconv>
#include <cmath>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>

#include <rill/config.hpp>

// Numbers as text, the same in every locale.

namespace rill { inline namespace RILL_ABI { namespace detail {

/// As messages show it: in quotes, and only the beginning of a long one.
std::string quoted(std::string_view text);

/// A text without the blanks and line ends around it.
std::string_view without_blanks(std::string_view text);

/// The number that a text is, from its first character to its last; nothing if it is none, or too large for T.
template <class T> std::optional<T> parsed_number(std::string_view text) {
    T value{};
    const bool plus = text.size() > 1 && text[0] == '+' && text[1] != '-';
    auto [stop, problem] = std::from_chars(text.data() + plus, text.data() + text.size(), value);
    if constexpr (std::is_floating_point_v<T>) // too small for T: 0, or the nearest there is
        if (problem == std::errc::result_out_of_range)
            if (const double wide = std::strtod(std::string(text).c_str(), nullptr); std::abs(wide) < 1)
                value = static_cast<T>(wide), problem = std::errc();
    if (problem != std::errc() || stop != text.data() + text.size()) return {};
    return value;
}

/// How a number is written: as printf does by f, e and g. `digits` stand behind the point (of a general one, at all).
enum class number_form { fixed, scientific, general };
std::string number_text(double value, number_form form, int digits);

}}} // namespace rill::RILL_ABI::detail

#if !RILL_COMPILED
#include <rill/core/number_text.ipp>
#endif
