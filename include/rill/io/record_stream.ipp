// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/io/record_stream.hpp>

#include <rill/core/crc32c.hpp>
#include <rill/io/wire.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

RILL_COLD void record_format::check() const {
    if (kind < record_kind::whole_file || kind > record_kind::tf_record)
        throw invalid_argument("the kind of records " + std::to_string(static_cast<std::int32_t>(kind)) +
                               " is unknown");
    if (skip_header_lines < 0)
        throw invalid_argument("skip_header_lines is " + std::to_string(skip_header_lines) + "; it must be 0 or more");
    if (kind == record_kind::fixed_length && (record_bytes < 1 || header_bytes < 0 || footer_bytes < 0))
        throw invalid_argument("a record has " + std::to_string(record_bytes) + " bytes, header and footer " +
                               std::to_string(header_bytes) + " and " + std::to_string(footer_bytes) +
                               "; accepted are 1 or more, and 0 or more");
}

RILL_COLD std::string record_format::described() const {
    switch (kind) {
    case record_kind::whole_file: return "whole_files";
    case record_kind::text_line: return "text_lines(" + std::to_string(skip_header_lines) + ")";
    case record_kind::fixed_length:
        return "fixed_length_records(" + std::to_string(record_bytes) + ", " + std::to_string(header_bytes) + ", " +
               std::to_string(footer_bytes) + ")";
    default: return "tf_records";
    }
}

RILL_COLD record_stream::record_stream(const std::string& path, const record_format& format, file_system& files)
    : bytes_(path, files), format_(format) {
    format_.check();
}

RILL_INLINE bool record_stream::next(std::string& to) {
    if (is_over_) return false;
    const bool more = format_.kind == record_kind::text_line      ? next_line(to)
                      : format_.kind == record_kind::fixed_length ? next_fixed(to)
                      : format_.kind == record_kind::tf_record    ? next_tf_record(to)
                                                                  : next_whole(to);
    records_ += more;
    is_over_ = !more;
    return more;
}

RILL_INLINE bool record_stream::next_line(std::string& to) {
    while (records_ < format_.skip_header_lines) {
        if (!bytes_.read_line(to, most_line_bytes)) return false;
        ++records_;
    }
    try {
        return bytes_.read_line(to, most_line_bytes);
    } catch (...) {
        ++records_; // keys count lines with errors, too
        throw;
    }
}

RILL_INLINE bool record_stream::next_fixed(std::string& to) {
    const auto record = static_cast<std::size_t>(format_.record_bytes),
               footer = static_cast<std::size_t>(format_.footer_bytes);
    if (bytes_.offset() == 0 && format_.header_bytes > 0 &&
        !bytes_.read(to, static_cast<std::size_t>(format_.header_bytes), "the header"))
        return false;
    // The last `footer` bytes are not a record, so that they are read ahead.
    std::string more;
    if (ahead_.size() < footer) {
        is_over_ = true; // unless the footer is there, so that later calls do not fail again
        if (!bytes_.read(ahead_, footer, "the footer"))
            throw data_loss("'" + path() + "': the footer of " + std::to_string(footer) + " bytes is missing");
        is_over_ = false;
    }
    if (!bytes_.read(more, record, "a record")) return false;
    to = ahead_ + more;
    ahead_ = to.substr(record);
    to.resize(record);
    return true;
}

RILL_INLINE bool record_stream::next_tf_record(std::string& to) {
    const auto from = bytes_.offset();
    const auto refuse = [&](const char* what) {
        throw data_loss("'" + path() + "': record " + std::to_string(records_) + " at byte " + std::to_string(from) +
                        ": " + what);
    };
    std::string head, crc;
    if (!bytes_.read(head, 12, "a record's length")) return false;
    wire_reader length(head);
    const auto size = length.fixed<std::uint64_t>();
    if (length.fixed<std::uint32_t>() != masked_crc(crc32c(std::string_view(head).substr(0, 8)))) {
        is_over_ = true; // the beginning of the next record is unknown
        refuse("the checksum of its length is wrong");
    }
    if (size > most_record_bytes) {
        is_over_ = true;
        refuse("its length is out of range");
    }
    if (!bytes_.read(to, static_cast<std::size_t>(size), "a record")) refuse("it is cut off");
    if (!bytes_.read(crc, 4, "a record's checksum")) refuse("it is cut off");
    if (wire_reader(crc).fixed<std::uint32_t>() == masked_crc(crc32c(to))) return true;
    const auto number = records_++;
    throw data_loss("'" + path() + "': record " + std::to_string(number) + " at byte " + std::to_string(from) +
                    ": its checksum is wrong");
}

RILL_INLINE bool record_stream::next_whole(std::string& to) {
    if (records_ > 0) return false;
    to.clear();
    while (bytes_.append_some(to))
        if (to.size() > most_record_bytes) {
            is_over_ = true;
            throw data_loss("'" + path() + "': it has more than " + std::to_string(most_record_bytes) +
                            " bytes, too many for one record");
        }
    return true;
}

RILL_COLD std::string record_stream::key() const {
    if (format_.kind == record_kind::whole_file) return path();
    return path() + ":" + std::to_string(format_.kind == record_kind::text_line ? records_ : records_ - 1);
}

RILL_COLD void record_stream::go_to(const position& p) {
    is_over_ = p.records < 0;
    records_ = is_over_ ? ~p.records : p.records;
    if (is_over_) return;
    const auto header = static_cast<std::uint64_t>(format_.header_bytes),
               footer = static_cast<std::uint64_t>(format_.footer_bytes);
    const bool reads_ahead = format_.kind == record_kind::fixed_length && footer > 0 && p.offset >= header + footer;
    bytes_.skip_to(reads_ahead ? p.offset - footer : p.offset);
    if (reads_ahead) bytes_.read(ahead_, static_cast<std::size_t>(footer), "the footer");
}

}}} // namespace rill::RILL_ABI::detail
