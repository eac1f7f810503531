// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <rill/core/any_array.hpp>
#include <rill/io/byte_stream.hpp>

// Records of comma-separated values as in RFC 4180: a field in quotes may hold delimiters, line ends and doubled quotes.

namespace rill { inline namespace RILL_ABI {

/// Returns the fields as a CSV record, without a line end. Fields with delimiters, quotes, line ends, or blanks at their ends are quoted.
std::string csv_line(const std::vector<std::string>& fields, char delimiter = ',');

namespace detail {

struct csv_syntax {
    char delimiter = ',';
    bool quotes = true; // false: a quote is an ordinary character

    /// Throws invalid_argument for a delimiter that is a line end or a NUL byte. Throws it for a quote while quotes enclose fields.
    void check() const;
};

/// The fields of a record, which is parsed line by line.
class csv_record {
public:
    static constexpr std::size_t most_fields = std::size_t(1) << 22;

    explicit csv_record(const csv_syntax& syntax) : syntax_(syntax) {}

    /// Returns the fields of a complete record. They may lie in its line, which must still exist.
    const std::vector<std::string_view>& fields() const noexcept { return fields_; }
    /// Clears the fields.
    void clear();
    /// Adds the next line of the record. Returns false if a quoted field continues on the next line. Throws invalid_argument with the
    /// column for a misplaced quote, line end or NUL byte, and for more than `most_fields` fields.
    bool add_line(std::string_view line);
    /// Throws invalid_argument for a quoted field that is not closed.
    [[noreturn]] void refuse_open_quote() const;

private:
    /// Takes the fields of a line that is a record without quotes. Returns false if the line needs the checks of add_line.
    bool split(std::string_view line);
    /// Begins a field, and returns the position of its text.
    std::size_t open_field(std::string_view line, std::size_t at);
    // Each function takes the position of a field's text and returns its end: that of the line, a delimiter, or npos for open quotes.
    std::size_t take_quoted(std::string_view line, std::size_t at);
    std::size_t take_bare(std::string_view line, std::size_t at);
    [[noreturn]] void refuse(const std::string& why) const;

    const csv_syntax syntax_;
    std::vector<std::string_view> fields_;
    std::vector<std::string> texts_; // the fields of a record that add_line could not split
    bool is_open_ = false;           // within quotes
    bool has_breaks_ = false;        // the line contains line ends, which must be within quotes
};

/// A stream of CSV records from a file. Errors name the file, the first line of the record, and the column.
class csv_stream {
public:
    csv_stream(const std::string& path, const csv_syntax& syntax, file_system& files = file_system::real());

    /// Reads the next record that is not blank. Returns false at the end. Throws invalid_argument for a bad record; the next call continues
    /// after its lines.
    bool next();
    /// Returns the fields of the last record, until the next call of next().
    const std::vector<std::string_view>& fields() const noexcept { return record_.fields(); }
    /// Returns the place of the last record, such as "data.csv:12".
    std::string place() const { return bytes_.path() + ":" + std::to_string(first_line_); }
    std::uint64_t offset() const noexcept { return bytes_.offset(); }
    std::int64_t line() const noexcept { return line_; }
    /// Continues at an offset that follows a number of lines.
    void skip_to(std::uint64_t offset, std::int64_t line);

private:
    static constexpr std::size_t most_bytes = std::size_t(1) << 28; // of a record

    byte_stream bytes_;
    csv_record record_;
    const char delimiter_;
    std::string text_;
    std::int64_t line_ = 0, first_line_ = 0;
};

/// Returns true if a field is empty or blank.
bool is_blank_field(std::string_view field);
/// Returns true if a field is a value of a column's dtype: float32, float64, int32, int64 or string.
bool is_csv_value(std::string_view field, dtype type);
/// Stores the value of a field. Throws invalid_argument if it is not a value of the dtype.
void store_csv_value(std::string_view field, dtype type, void* to);
/// Throws invalid_argument for a dtype that columns do not support.
void check_csv_type(dtype type);

} // namespace detail

}} // namespace rill::RILL_ABI

#if !RILL_COMPILED
#include <rill/io/csv_record.ipp>
#endif
