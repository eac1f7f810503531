// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/data/csv.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <iterator>
#include <memory>

namespace rill::inline RILL_ABI::detail {

RILL_INLINE std::string read_file(const std::string& path) {
    const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rb"), &std::fclose);
    if (!file) throw not_found("csv: '" + path + "' can't be opened");
    std::string text;
    char block[1 << 16];
    for (std::size_t n; (n = std::fread(block, 1, sizeof(block), file.get())) > 0;) text.append(block, n);
    if (std::ferror(file.get())) throw data_loss("csv: '" + path + "' can't be read");
    return text;
}

RILL_INLINE std::string_view trimmed(std::string_view s) {
    while (!s.empty() && (s.front() == ' ' || s.front() == '\t')) s.remove_prefix(1);
    while (!s.empty() && (s.back() == ' ' || s.back() == '\t' || s.back() == '\r')) s.remove_suffix(1);
    return s;
}

} // namespace rill::inline RILL_ABI::detail
