// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/core/names.hpp>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <utility>
#include <vector>

#include <rill/core/algorithm.hpp>
#include <rill/core/vector.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

RILL_COLD std::string snake_case(std::string_view camel) {
    const auto upper = [](char c) { return c >= 'A' && c <= 'Z'; };
    std::string out;
    for (std::size_t i = 0; i < camel.size(); ++i) {
        const bool after_lower = i > 0 && !upper(camel[i - 1]);
        const bool before_lower = i + 1 < camel.size() && !upper(camel[i + 1]) && camel[i + 1] != '_';
        const bool starts_word = upper(camel[i]) && i > 0 && (after_lower || before_lower);
        if (starts_word && out.back() != '_') out += '_';
        out += upper(camel[i]) ? static_cast<char>(camel[i] - 'A' + 'a') : camel[i];
    }
    return out;
}

RILL_COLD bool valid_name(std::string_view name) {
    const auto plain = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.';
    };
    if (name.empty() || !(plain(name[0]) || name[0] == '_')) return false;
    return std::all_of(name.begin() + 1, name.end(),
                       [&](char c) { return plain(c) || c == '_' || c == '-' || c == '/' || c == '\\' || c == '>'; });
}

RILL_COLD std::size_t edit_distance(std::string_view a, std::string_view b) {
    std::vector<std::size_t> row(b.size() + 1);
    for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
    for (std::size_t i = 1; i <= a.size(); ++i) {
        std::size_t diagonal = std::exchange(row[0], i);
        for (std::size_t j = 1; j <= b.size(); ++j) {
            const std::size_t change = diagonal + (a[i - 1] != b[j - 1]);
            diagonal = row[j];
            row[j] = std::min({row[j] + 1, row[j - 1] + 1, change});
        }
    }
    return row[b.size()];
}

RILL_COLD std::vector<std::string> nearest_names(std::string_view wanted, const std::vector<std::string>& names,
                                                 std::size_t most) {
    vector<std::pair<std::size_t, std::string_view>> ranked;
    for (const auto& name : names) ranked.emplace_back(edit_distance(wanted, name), name);
    detail::sort(ranked);
    std::vector<std::string> out;
    for (const auto& [distance, name] : ranked) {
        const std::size_t shorter = std::min(wanted.size(), name.size()), longer = std::max(wanted.size(), name.size());
        const bool begins = wanted.starts_with(name) || name.starts_with(wanted); // x for xx
        if (out.size() < most && (distance < shorter || begins) && distance <= longer / 2 + 1) out.emplace_back(name);
    }
    return out;
}

}}} // namespace rill::RILL_ABI::detail
