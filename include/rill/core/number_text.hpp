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

// Locale-independent conversion of numbers.

namespace rill { inline namespace RILL_ABI { namespace detail {

/// Returns a text for a message: quoted, and shortened if long.
std::string quoted(std::string_view text);

/// Returns a text without leading and trailing white space.
std::string_view without_blanks(std::string_view text);

/// Parses a text that is a number as a whole. Returns nothing if it is not a number or does not fit T.
template <class T> std::optional<T> parsed_number(std::string_view text) {
    T value{};
    const bool plus = text.size() > 1 && text[0] == '+' && text[1] != '-';
    auto [stop, problem] = std::from_chars(text.data() + plus, text.data() + text.size(), value);
    if constexpr (std::is_floating_point_v<T>) // underflow: 0 or the nearest value
        if (problem == std::errc::result_out_of_range)
            if (const double wide = std::strtod(std::string(text).c_str(), nullptr); std::abs(wide) < 1)
                value = static_cast<T>(wide), problem = std::errc();
    if (problem != std::errc() || stop != text.data() + text.size()) return {};
    return value;
}

/// The format of a number, as %f, %e or %g of printf. `digits` counts digits after the point; in general form, all
/// significant digits.
enum class number_form { fixed, scientific, general };
std::string number_text(double value, number_form form, int digits);

}}} // namespace rill::RILL_ABI::detail

#if !RILL_COMPILED
#include <rill/core/number_text.ipp>
#endif
