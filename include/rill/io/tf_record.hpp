// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <rill/io/file_system.hpp>

namespace rill { inline namespace RILL_ABI {

/// A writer of a TFRecord file, which dataset::tfrecord, tf_record_reader and TensorFlow read:
///
///     tf_record_writer out("train.tfrecord");
///     out.write(example_bytes({{"x", {.floats = {1, 2}}}}));
///     out.close();
///
/// Errors name the operation and the path.
class tf_record_writer {
public:
    /// Creates the file, or empties an existing one.
    explicit tf_record_writer(const std::string& path, file_system& files = file_system::real());
    tf_record_writer(tf_record_writer&&) noexcept = default;
    tf_record_writer& operator=(tf_record_writer&&) = delete;
    /// Writes the rest, as close() does, but ignores errors.
    ~tf_record_writer();

    /// Appends a record. Throws failed_precondition after close().
    void write(std::string_view payload);
    /// Passes the records written so far to the file.
    void flush();
    /// Writes the rest, makes the file durable and closes it. A second call does nothing.
    void close();
    /// Returns the number of records written.
    std::int64_t count() const noexcept { return count_; }

private:
    static constexpr std::size_t block_bytes = std::size_t(1) << 18;

    std::string path_;
    std::unique_ptr<output_file> file_;
    std::string block_; // records not passed to the file yet
    std::int64_t count_ = 0;
};

namespace detail {

/// Returns a record of a TFRecord file: the payload's length and its checksum, the payload and its checksum.
std::string tf_record(std::string_view payload);

/// Returns the payloads of a TFRecord file's bytes. Throws data_loss, with the offset, for a wrong checksum and a truncated record.
std::vector<std::string_view> tf_records(std::string_view bytes);

} // namespace detail

}} // namespace rill::RILL_ABI

#if !RILL_COMPILED
#include <rill/io/tf_record.ipp>
#endif
