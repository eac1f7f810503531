// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <rill/core/error.hpp>
#include <rill/core/host_array.hpp>
#include <rill/core/number_text.hpp>
#include <rill/core/text_file.hpp>

namespace rill { inline namespace RILL_ABI {

struct csv_options {
    bool header = true; // the first line holds names
    char delimiter = ',';
};

/// A table of numbers, rows x columns, and the names of its columns if the file has a header.
template <class T> struct csv_table {
    std::vector<std::string> names;
    host_array<T, 2> values;
};

namespace detail {

/// Returns a text without surrounding blanks. A delimiter does not count as blank.
std::string_view trimmed(std::string_view s, char delimiter);

/// Calls f(column, field) for each field of a line; returns the number of fields.
template <class F> std::size_t each_field(std::string_view line, char delimiter, F&& f) {
    std::size_t column = 0;
    for (std::size_t begin = 0;; ++column) {
        const std::size_t end = line.find(delimiter, begin);
        f(column, trimmed(line.substr(begin, end == std::string_view::npos ? end : end - begin), delimiter));
        if (end == std::string_view::npos) return column + 1;
        begin = end + 1;
    }
}

} // namespace detail

/// Parses lines of numbers, with any system's line ends. Skips blank lines and a byte-order mark. Errors name the place: "digits.csv:12:3".
template <class T>
csv_table<T> parse_csv(std::string_view text, const std::string& path, const csv_options& options = {}) {
    static_assert(std::is_arithmetic_v<T> && !std::is_same_v<T, bool>, "csv: the element type is a number");
    csv_table<T> table;
    std::vector<T> values;
    std::size_t columns = 0, rows = 0, line_number = 0;
    const auto fail = [&](std::size_t column, const std::string& what) {
        throw invalid_argument("csv: " + path + ":" + std::to_string(line_number) + ":" + std::to_string(column + 1) +
                               ": " + what);
    };
    if (constexpr std::string_view mark = "\xef\xbb\xbf"; text.starts_with(mark)) text.remove_prefix(mark.size());
    bool header = options.header;
    while (!text.empty()) {
        ++line_number;
        const std::string_view line = detail::trimmed(detail::take_line(text), options.delimiter);
        if (line.empty()) continue;
        if (header) {
            header = false;
            columns = detail::each_field(line, options.delimiter,
                                         [&](std::size_t, std::string_view f) { table.names.emplace_back(f); });
            continue;
        }
        const std::size_t found =
            detail::each_field(line, options.delimiter, [&](std::size_t column, std::string_view field) {
                const auto value = detail::parsed_number<T>(field);
                if (!value)
                    fail(column, detail::quoted(field) + " is not a valid " + std::string(to_string(dtype_of<T>)));
                values.push_back(*value);
            });
        if (columns == 0) columns = found;
        if (found != columns)
            fail(std::min(found, columns), std::to_string(found) + " fields, " + std::to_string(columns) + " expected");
        ++rows;
    }
    table.values = host_array<T, 2>({rows, columns});
    std::copy(values.begin(), values.end(), table.values.storage().begin());
    return table;
}

/// Reads a file of numbers. Throws not_found if it can't be opened. Throws invalid_argument if a field is not a number or a line has
/// another number of fields. The error names file, line and column.
template <class T> csv_table<T> read_csv(const std::string& path, const csv_options& options = {}) {
    return parse_csv<T>(detail::read_file(path, "csv"), path, options);
}

}} // namespace rill::RILL_ABI

#if !RILL_COMPILED
#include <rill/data/csv.ipp>
#endif
