// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/core/text_file.hpp>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <memory>

#include <rill/core/algorithm.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

RILL_INLINE std::string read_file(const std::string& path, const std::string& who) {
    const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rb"), &std::fclose);
    if (!file) throw not_found(who + ": '" + path + "' can't be opened");
    std::string text;
    char block[1 << 16];
    for (std::size_t n; (n = std::fread(block, 1, sizeof(block), file.get())) > 0;) text.append(block, n);
    if (std::ferror(file.get())) throw data_loss(who + ": '" + path + "' can't be read");
    return text;
}

RILL_COLD void refuse_file(const std::string& what, int problem) {
    const auto code = problem == ENOENT                       ? error_code::not_found
                      : problem == EACCES || problem == EROFS ? error_code::permission_denied
                      : problem == EEXIST                     ? error_code::already_exists
                      : problem == ENOSPC || problem == EFBIG || problem == EMFILE || problem == ENFILE 
                          ? error_code::resource_exhausted
                                                              : error_code::data_loss;
    throw_error(code, what + (problem ? std::string(": ") + std::strerror(problem) : std::string()));
}

RILL_COLD std::string json_text(std::string_view text) {
    std::string out = "\"";
    for (const char c : text) {
        char code[8];
        if (c == '"' || c == '\\')
            out += {'\\', c};
        else if (static_cast<unsigned char>(c) >= 0x20)
            out += c;
        else if (std::snprintf(code, sizeof code, "\\u%04x", static_cast<unsigned>(c)) > 0)
            out += code;
    }
    return out + '"';
}

RILL_INLINE std::string_view take_line(std::string_view& text) {
    const auto end = detail::find_if(text, [](char c) { return c == '\n' || c == '\r'; });
    const auto line = text.substr(0, static_cast<std::size_t>(end - text.begin()));
    text.remove_prefix(line.size());
    text.remove_prefix(text.starts_with("\r\n") ? 2 : text.empty() ? 0 : 1);
    return line;
}

}}} // namespace rill::RILL_ABI::detail
