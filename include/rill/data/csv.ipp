// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/data/csv.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

RILL_INLINE std::string_view trimmed(std::string_view s, char delimiter) {
    const auto blank = [&](char c) { return (c == ' ' || c == '\t') && c != delimiter; };
    while (!s.empty() && blank(s.front())) s.remove_prefix(1);
    while (!s.empty() && blank(s.back())) s.remove_suffix(1);
    return s;
}

}}} // namespace rill::RILL_ABI::detail
