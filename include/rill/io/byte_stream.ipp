// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/io/byte_stream.hpp>

#include <algorithm>
#include <cstring>

#include <rill/io/wire.hpp>
#include <rill/io/zlib.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

RILL_COLD byte_stream::byte_stream(const std::string& path, file_system& files) : path_(path), file_(files.open(path)) {
    constexpr std::string_view gzip_mark = "\x1f\x8b";
    char mark[2];
    if (file_->size() < sizeof mark) return;
    file_->read_at(0, mark, sizeof mark);
    if (std::string_view(mark, sizeof mark) != gzip_mark) return;
    const auto fill = [this](std::string& to) {
        to.resize(static_cast<std::size_t>(std::min<std::uint64_t>(file_->size() - file_at_, 1 << 16)));
        file_->read_at(file_at_, to.data(), to.size());
        file_at_ += to.size();
    };
    gzip_ = with_prefix("'" + path + "'", [&] { return std::make_unique<gzip_reader>(fill); });
}

RILL_COLD byte_stream::~byte_stream() = default;

RILL_INLINE void byte_stream::fill_block() {
    constexpr std::size_t block_bytes = 1 << 16;
    if (gzip_) {
        block_.resize(block_bytes);
        block_.resize(with_prefix("'" + path_ + "'", [&] { return gzip_->read(block_.data(), block_bytes); }));
        return;
    }
    block_.resize(static_cast<std::size_t>(std::min<std::uint64_t>(file_->size() - file_at_, block_bytes)));
    if (!block_.empty()) file_->read_at(file_at_, block_.data(), block_.size());
    file_at_ += block_.size();
}

RILL_INLINE bool byte_stream::load() {
    before_ += block_.size();
    at_ = 0;
    feed_ = -1;
    block_.clear();
    if (has_failed_) return false;
    try {
        fill_block();
    } catch (...) { // later calls must neither read the block nor repeat the error for ever
        block_.clear();
        has_failed_ = true;
        throw;
    }
    return !block_.empty();
}

RILL_INLINE std::size_t byte_stream::next_feed() {
    if (feed_ <
        static_cast<std::int64_t>(at_)) { // else CR line ends cause a search of the whole block per line
        const auto at = block_.find('\n', at_);
        feed_ = static_cast<std::int64_t>(std::min(at, block_.size()));
    }
    return static_cast<std::size_t>(feed_);
}

RILL_INLINE bool byte_stream::read(std::string& to, std::size_t bytes, const char* what) {
    const auto from = offset();
    to.clear();
    while (to.size() < bytes && !at_end()) { // grows with the available bytes: a length in a damaged file is arbitrary
        const std::size_t n = std::min(bytes - to.size(), block_.size() - at_);
        to.append(block_, at_, n);
        at_ += n;
    }
    if (to.size() == bytes) return true;
    if (to.empty()) return false;
    throw data_loss("'" + path_ + "': " + what + " at byte " + std::to_string(from) +
                    " is cut off: " + std::to_string(to.size()) + " bytes of " + std::to_string(bytes) + " are there");
}

RILL_INLINE bool byte_stream::append_some(std::string& to) {
    if (at_end()) return false;
    to.append(block_, at_);
    at_ = block_.size();
    return true;
}

RILL_INLINE bool byte_stream::read_line(std::string& to, std::size_t most) {
    to.clear();
    if (at_end()) return false;
    const auto from = offset();
    if (constexpr std::string_view mark = "\xef\xbb\xbf"; from == 0 && std::string_view(block_).starts_with(mark)) {
        at_ += mark.size();
        if (at_end()) return false;
    }
    bool too_long = false;
    for (;;) {
        const auto* const begin = block_.data() + at_;
        const auto* const end = block_.data() + block_.size();
        const auto* const stop = block_.data() + next_feed();
        const auto* const carriage =
            static_cast<const char*>(std::memchr(begin, '\r', static_cast<std::size_t>(stop - begin)));
        const auto* const line_end = carriage ? carriage : stop;
        if (to.size() + static_cast<std::size_t>(line_end - begin) > most) too_long = true;
        if (!too_long) to.append(begin, line_end);
        at_ += static_cast<std::size_t>(line_end - begin);
        if (line_end != end) {
            ++at_;
            if (carriage && !at_end() && block_[at_] == '\n') ++at_;
            break;
        }
        if (at_end()) break;
    }
    if (too_long)
        throw invalid_argument("'" + path_ + "': the line at byte " + std::to_string(from) + " has more than " +
                               std::to_string(most) + " bytes");
    return true;
}

RILL_COLD void byte_stream::skip_to(std::uint64_t target) {
    if (!gzip_ && target > before_ + block_.size()) {
        if (target > file_->size())
            throw data_loss("'" + path_ + "': it has fewer than " + std::to_string(target) + " bytes");
        block_.clear();
        at_ = 0;
        before_ = file_at_ = target;
    }
    while (offset() < target) {
        if (at_end()) throw data_loss("'" + path_ + "': it has fewer than " + std::to_string(target) + " bytes");
        at_ += static_cast<std::size_t>(std::min<std::uint64_t>(target - offset(), block_.size() - at_));
    }
}

/// Returns the number of characters at the beginning of a pattern that match c: 1, the length of a set, or 0 for no match.
inline std::size_t pattern_part_for(std::string_view pattern, char c) {
    if (pattern.empty()) return 0;
    const auto close = pattern.front() == '[' ? pattern.find(']', 2) : std::string_view::npos;
    if (close == std::string_view::npos) return pattern.front() == '?' || pattern.front() == c;
    auto set = pattern.substr(1, close - 1);
    const bool excludes = set.starts_with('!');
    if (excludes) set.remove_prefix(1);
    bool found = false;
    while (!set.empty()) {
        const bool is_range = set.size() >= 3 && set[1] == '-';
        const char last = is_range ? set[2] : set[0];
        found = found || (set[0] <= c && c <= last);
        set.remove_prefix(is_range ? 3 : 1);
    }
    return found == excludes ? 0 : close + 1;
}

RILL_COLD bool matches_pattern(std::string_view name, std::string_view pattern) {
    constexpr auto none = std::string_view::npos;
    std::size_t at = 0, in_pattern = 0, star = none, star_at = 0; // the last star, and the end of its match
    while (at < name.size()) {
        if (in_pattern < pattern.size() && pattern[in_pattern] == '*') {
            star = in_pattern++;
            star_at = at;
        } else if (const auto part = pattern_part_for(pattern.substr(in_pattern), name[at]); part > 0) {
            in_pattern += part;
            ++at;
        } else if (star != none) { // the star matches one more character
            in_pattern = star + 1;
            at = ++star_at;
        } else {
            return false;
        }
    }
    return pattern.find_first_not_of('*', in_pattern) == none;
}

RILL_COLD std::vector<std::string> expand_pattern(const std::string& pattern, file_system& files) {
    const std::string name = base_of(pattern), directory = directory_of(pattern);
    if (name.find_first_of("*?[") == std::string::npos || files.exists(pattern)) return {pattern};
    std::vector<std::string> found;
    for (const auto& n : files.list(directory))
        if (!n.starts_with('.') && matches_pattern(n, name))
            found.push_back(pattern.find('/') == std::string::npos ? n : joined_path(directory, n));
    if (found.empty()) throw not_found("no file matches '" + pattern + "'");
    return found;
}

}}} // namespace rill::RILL_ABI::detail
