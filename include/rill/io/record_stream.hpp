// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include <rill/io/byte_stream.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

/// The kinds of record files, with bytes or text.
enum class record_kind : std::int32_t { whole_file, text_line, fixed_length, tf_record };

/// The layout of a file of records.
struct record_format {
    record_kind kind = record_kind::text_line;
    std::int64_t skip_header_lines = 0;                                // of text lines
    std::int64_t record_bytes = 0, header_bytes = 0, footer_bytes = 0; // of fixed-length records

    /// Throws invalid_argument if a number is out of range.
    void check() const;
    /// Returns a description such as "text_lines" or "fixed_length_records(20, 4, 0)".
    std::string described() const;
};

/// A stream of the records of a file. Errors name the file, and the line or byte of the record.
class record_stream {
public:
    /// A position in the file: bytes and records read. After the end, records holds the complement of their number.
    struct position {
        std::uint64_t offset = 0;
        std::int64_t records = 0;
    };

    record_stream(const std::string& path, const record_format& format, file_system& files = file_system::real());

    /// Reads the next record. Returns false at the end. Throws data_loss for a record that is truncated or has a wrong checksum. The
    /// next call continues after it, or at the end of the file if the length is unknown.
    bool next(std::string& to);
    /// Returns the key of the last record: "path:line" of a text line, "path:number" (from 0) of others, else the path.
    std::string key() const;
    const std::string& path() const noexcept { return bytes_.path(); }
    position where() const { return {bytes_.offset(), is_over_ ? ~records_ : records_}; }
    /// Moves to a position in the file, before the first call of next. Throws data_loss if the file ends before it.
    void go_to(const position& p);

private:
    static constexpr std::size_t most_line_bytes = std::size_t(1) << 28;
    static constexpr std::uint64_t most_record_bytes = std::uint64_t(1) << 32; // of a TFRecord, and of a whole file

    bool next_line(std::string& to);
    bool next_fixed(std::string& to);
    bool next_tf_record(std::string& to);
    bool next_whole(std::string& to);

    byte_stream bytes_;
    const record_format format_;
    std::string ahead_; // bytes that may be the footer
    std::int64_t records_ = 0;
    bool is_over_ = false;
};

}}} // namespace rill::RILL_ABI::detail

#if !RILL_COMPILED
#include <rill/io/record_stream.ipp>
#endif
