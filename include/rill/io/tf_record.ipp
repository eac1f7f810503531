// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/io/tf_record.hpp>

#include <utility>

#include <rill/core/crc32c.hpp>
#include <rill/io/wire.hpp>

namespace rill { inline namespace RILL_ABI {

namespace detail {

RILL_INLINE std::string tf_record(std::string_view payload) {
    wire_writer to;
    to.out.reserve(payload.size() + 16);
    to.fixed(static_cast<std::uint64_t>(payload.size()));
    to.fixed(masked_crc(detail::crc32c(to.out)));
    to.raw(payload);
    to.fixed(masked_crc(detail::crc32c(payload)));
    return std::move(to.out);
}

RILL_INLINE std::vector<std::string_view> tf_records(std::string_view bytes) {
    std::vector<std::string_view> all;
    for (wire_reader from(bytes); !from.empty();) {
        const auto head = from.raw(8);
        if (from.fixed<std::uint32_t>() != masked_crc(detail::crc32c(head)))
            from.refuse("the checksum of a record's length is wrong");
        const auto payload = from.raw(wire_reader(head).fixed<std::uint64_t>());
        if (from.fixed<std::uint32_t>() != masked_crc(detail::crc32c(payload)))
            from.refuse("the checksum of a record is wrong");
        all.push_back(payload);
    }
    return all;
}

} // namespace detail

RILL_COLD tf_record_writer::tf_record_writer(const std::string& path, file_system& files)
    : path_(path), file_(files.create(path)) {}

RILL_COLD tf_record_writer::~tf_record_writer() {
    try {
        close();
    } catch (...) {} // close() reports errors
}

RILL_INLINE void tf_record_writer::write(std::string_view payload) {
    if (!file_) throw failed_precondition("write '" + path_ + "': the writer is closed");
    block_ += detail::tf_record(payload);
    ++count_;
    if (block_.size() >= block_bytes) flush();
}

RILL_COLD void tf_record_writer::flush() {
    if (file_) file_->append(std::exchange(block_, {}));
}

RILL_COLD void tf_record_writer::close() {
    if (!file_) return;
    const auto file = std::move(file_); // no retry: a second sync may succeed where the first lost bytes
    file->append(std::exchange(block_, {}));
    file->sync();
    file->close();
}

}} // namespace rill::RILL_ABI
