// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/core/number_text.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

RILL_INLINE std::string quoted(std::string_view text) {
    constexpr std::size_t most = 60;
    if (text.size() <= most) return "'" + std::string(text) + "'";
    return "'" + std::string(text.substr(0, most)) + "...' (" + std::to_string(text.size()) + " bytes)";
}

RILL_INLINE std::string_view without_blanks(std::string_view text) {
    const auto is_blank = [](char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }; // \t \n \v \f \r
    while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
    while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
    return text;
}

RILL_INLINE std::string number_text(double value, number_form form, int digits) {
    const auto how = form == number_form::fixed        ? std::chars_format::fixed
                     : form == number_form::scientific ? std::chars_format::scientific
                                                       : std::chars_format::general;
    std::string text(static_cast<std::size_t>(digits) + 330, '\0'); // the largest double has 309 digits
    const auto [end, problem] = std::to_chars(text.data(), text.data() + text.size(), value, how, digits);
    text.resize(problem == std::errc() ? static_cast<std::size_t>(end - text.data()) : 0);
    return text;
}

}}} // namespace rill::RILL_ABI::detail
