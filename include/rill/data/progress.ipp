// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/data/progress.hpp>

#include <algorithm>
#include <cstddef>

#if defined(__unix__) || defined(__APPLE__)
#include <unistd.h>
#endif

#include <rill/core/number_text.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

RILL_COLD std::string progress_line(const progress_options& o, std::int64_t done, double seconds) {
    constexpr std::int64_t width = 30;
    std::string line = o.label.empty() ? "" : o.label + " ";
    if (o.total > 0) {
        const auto filled = static_cast<std::size_t>(std::min(done, o.total) * width / o.total);
        line += "[" + std::string(filled, '#') + std::string(static_cast<std::size_t>(width) - filled, '.') + "] ";
    }
    line += std::to_string(done) + (o.total > 0 ? "/" + std::to_string(o.total) : std::string());
    if (seconds <= 0 || done == 0) return line;
    const double rate = static_cast<double>(done) / seconds;
    line += "  " + number_text(rate, number_form::fixed, rate < 10 ? 2 : 0) + "/s";
    if (o.total > done)
        line += "  " + number_text(static_cast<double>(o.total - done) / rate, number_form::fixed, 0) + " s left";
    return line;
}

RILL_COLD std::FILE* progress_stream(const progress_options& o) {
    if (o.to) return o.to;
#if defined(__unix__) || defined(__APPLE__)
    return ::isatty(STDERR_FILENO) ? stderr : nullptr;
#else
    return nullptr;
#endif
}

RILL_COLD void draw_progress(std::FILE* to, const std::string& line, bool end) {
    std::fprintf(to, "\r%s\x1b[K%s", line.c_str(), end ? "\n" : "");
    std::fflush(to);
}

}}} // namespace rill::RILL_ABI::detail
