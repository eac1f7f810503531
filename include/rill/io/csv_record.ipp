// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/io/csv_record.hpp>

#include <algorithm>
#include <type_traits>

#include <rill/core/number_text.hpp>

namespace rill { inline namespace RILL_ABI {

namespace detail {

RILL_COLD void csv_syntax::check() const {
    const bool is_quote = delimiter == '"' && quotes;
    if (is_quote || delimiter == '\n' || delimiter == '\r' || delimiter == '\0')
        throw invalid_argument("the delimiter of CSV is " +
                               std::string(is_quote ? "a quote" : "a line end or a NUL byte") +
                               "; it must be another character");
}

RILL_INLINE void csv_record::clear() {
    fields_.clear();
    texts_.clear();
    is_open_ = false;
}

RILL_COLD void csv_record::refuse(const std::string& why) const {
    throw invalid_argument("column " + std::to_string(texts_.size()) + ": " + why);
}

RILL_COLD void csv_record::refuse_open_quote() const { refuse("the quotes of the field are not closed"); }

RILL_INLINE std::size_t csv_record::open_field(std::string_view line, std::size_t at) {
    if (texts_.size() == most_fields) refuse("the record has more than " + std::to_string(most_fields) + " fields");
    texts_.emplace_back();
    is_open_ = syntax_.quotes && at < line.size() && line[at] == '"';
    return at + is_open_;
}

RILL_INLINE std::size_t csv_record::take_quoted(std::string_view line, std::size_t at) {
    for (;; ++at) {
        const auto quote = line.find('"', at);
        texts_.back().append(line.substr(at, quote == std::string_view::npos ? quote : quote - at));
        if (quote == std::string_view::npos) return quote;
        at = quote + 1;
        if (at == line.size() || line[at] != '"') break;
        texts_.back() += '"'; // a doubled quote
    }
    is_open_ = false;
    if (at < line.size() && line[at] != syntax_.delimiter)
        refuse("a delimiter is expected behind the closing quote, not " + quoted(line.substr(at)));
    return at;
}

RILL_INLINE std::size_t csv_record::take_bare(std::string_view line, std::size_t at) {
    const auto end = std::min(line.find(syntax_.delimiter, at), line.size());
    const auto text = line.substr(at, end - at);
    if (syntax_.quotes && text.find('"') != std::string_view::npos)
        refuse("a quote is expected only around the field, not in " + quoted(text));
    if (has_breaks_ && text.find_first_of("\r\n") != std::string_view::npos)
        refuse("a line end is expected only within quotes");
    texts_.back().append(text);
    return end;
}

RILL_INLINE bool csv_record::split(std::string_view line) {
    const auto has = [line](char c) { return line.find(c) != std::string_view::npos; };
    if ((syntax_.quotes && has('"')) || has('\n') || has('\r') || has('\0')) return false;
    for (std::size_t at = 0;;) {
        const auto end = std::min(line.find(syntax_.delimiter, at), line.size());
        fields_.push_back(line.substr(at, end - at));
        if (end == line.size()) return true;
        if (fields_.size() == most_fields) break;
        at = end + 1;
    }
    fields_.clear();
    return false;
}

RILL_INLINE bool csv_record::add_line(std::string_view line) {
    if (!is_open_ && split(line)) return true; // most records: no text is copied
    std::size_t at = 0;
    if (is_open_)
        texts_.back() += '\n';
    else
        at = open_field(line, 0);
    has_breaks_ = line.find('\n') != std::string_view::npos || line.find('\r') != std::string_view::npos;
    if (line.find('\0') != std::string_view::npos) refuse("a NUL byte is not text, here or in a later column");
    for (;;) {
        const auto end = is_open_ ? take_quoted(line, at) : take_bare(line, at);
        if (end == std::string_view::npos) return false;
        if (end == line.size()) break;
        at = open_field(line, end + 1);
    }
    fields_.assign(texts_.begin(), texts_.end());
    return true;
}

RILL_COLD csv_stream::csv_stream(const std::string& path, const csv_syntax& syntax, file_system& files)
    : bytes_(path, files), record_(syntax), delimiter_(syntax.delimiter) {
    syntax.check();
}

RILL_INLINE bool csv_stream::next() {
    record_.clear();
    const auto read = [&] {
        ++line_; // lines with errors count too
        if (bytes_.read_line(text_, most_bytes)) return true;
        --line_;
        return false;
    };
    do {
        if (!read()) return false;
        first_line_ = line_;
    } while (is_blank_field(text_) && text_.find(delimiter_) == std::string::npos);
    std::size_t bytes = text_.size();
    try {
        while (!record_.add_line(text_)) {
            if (!read()) record_.refuse_open_quote();
            bytes += text_.size() + 1;
            if (bytes > most_bytes)
                throw invalid_argument("the record has more than " + std::to_string(most_bytes) +
                                       " bytes; a quote may be open");
        }
    } catch (const error& problem) {
        throw_error(problem.code(), place() + ": " + problem.what());
    }
    return true;
}

RILL_COLD void csv_stream::skip_to(std::uint64_t offset, std::int64_t line) {
    bytes_.skip_to(offset);
    line_ = line;
}

RILL_INLINE bool is_blank_field(std::string_view field) {
    return field.find_first_not_of(" \t") == std::string_view::npos;
}

template <class F> auto with_csv_type(dtype type, const F& f) {
    switch (type) {
    case dtype::float32: return f(float());
    case dtype::float64: return f(double());
    case dtype::int32: return f(std::int32_t());
    case dtype::int64: return f(std::int64_t());
    default: return f(std::string());
    }
}

RILL_INLINE bool is_csv_value(std::string_view field, dtype type) {
    return with_csv_type(type, [&]<class T>(const T&) {
        if constexpr (std::is_same_v<T, std::string>)
            return true;
        else
            return parsed_number<T>(without_blanks(field)).has_value();
    });
}

RILL_INLINE void store_csv_value(std::string_view field, dtype type, void* to) {
    with_csv_type(type, [&]<class T>(const T&) {
        if constexpr (std::is_same_v<T, std::string>) {
            *static_cast<T*>(to) = std::string(field);
        } else {
            const auto value = parsed_number<T>(without_blanks(field));
            if (!value) throw invalid_argument(quoted(field) + " is not a valid " + std::string(to_string(type)));
            *static_cast<T*>(to) = *value;
        }
    });
}

RILL_COLD void check_csv_type(dtype type) {
    if (type != dtype::float32 && type != dtype::float64 && type != dtype::int32 && type != dtype::int64 &&
        type != dtype::string)
        throw invalid_argument("a column of CSV is float32, float64, int32, int64 or string, not " +
                               std::string(to_string(type)));
}

} // namespace detail

RILL_COLD std::string csv_line(const std::vector<std::string>& fields, char delimiter) {
    detail::csv_syntax{delimiter}.check();
    std::string line;
    for (std::size_t i = 0; i < fields.size(); ++i) {
        const auto& field = fields[i];
        if (field.find('\0') != std::string::npos)
            throw invalid_argument("csv_line: field " + std::to_string(i + 1) + " has a NUL byte, which is not text");
        if (i > 0) line += delimiter;
        const bool is_alone = fields.size() == 1 && detail::is_blank_field(field); // a blank line is not a record
        const auto is_blank = [](char c) { return c == ' ' || c == '\t'; };
        const bool is_bare = !is_alone && (field.empty() || !(is_blank(field.front()) || is_blank(field.back()))) &&
                             field.find_first_of(std::string("\"\r\n") + delimiter) == std::string::npos &&
                             !(i == 0 && field.starts_with("\xef\xbb\xbf"));
        if (is_bare) {
            line += field;
            continue;
        }
        line += '"';
        for (const char c : field) line.append(c == '"' ? 2 : 1, c);
        line += '"';
    }
    return line;
}

}} // namespace rill::RILL_ABI
