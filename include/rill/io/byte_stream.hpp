// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <rill/io/file_system.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

class gzip_reader;

/// A file that is read from its beginning to its end, in blocks. A gzip file, known by its first bytes, is decompressed where zlib is found.
/// Errors name the path. After an error of the file or of its compression the stream is at its end.
class byte_stream {
public:
    /// Opens a file. Throws not_found, permission_denied, data_loss for a directory, or unimplemented for a gzip file without zlib.
    explicit byte_stream(const std::string& path, file_system& files = file_system::real());
    byte_stream(const byte_stream&) = delete;
    ~byte_stream();

    const std::string& path() const noexcept { return path_; }
    /// Returns the number of bytes read so far, after decompression.
    std::uint64_t offset() const noexcept { return before_ + at_; }
    /// Returns true if no byte is left.
    bool at_end() { return at_ == block_.size() && !load(); }
    /// Reads exactly `bytes` bytes; returns false at the end. Throws data_loss if only some are left. `what` names them in messages.
    bool read(std::string& to, std::size_t bytes, const char* what);
    /// Appends the bytes that are at hand, and returns false at the end.
    bool append_some(std::string& to);
    /// Reads a line without its end, which is LF, CRLF or CR. Returns false at the end. A byte-order mark at the beginning of the file is
    /// skipped. Throws invalid_argument for a line of more than `most` bytes; the next call goes on behind it.
    bool read_line(std::string& to, std::size_t most);
    /// Skips bytes up to an offset that lies ahead. Throws data_loss if the file ends before.
    void skip_to(std::uint64_t offset);

private:
    bool load();
    void fill_block();
    /// Returns the place of the next LF in the block; its size if there is none.
    std::size_t next_feed();

    const std::string path_;
    std::unique_ptr<input_file> file_;
    std::uint64_t file_at_ = 0, before_ = 0; // bytes read from the file; bytes given before this block
    std::unique_ptr<gzip_reader> gzip_;
    std::string block_;
    std::size_t at_ = 0;
    std::int64_t feed_ = -1; // what next_feed has found, unless it lies before at_
    bool has_failed_ = false;
};

/// Returns the paths that a pattern stands for, sorted: `*`, `?` and `[a-z]` in the last part of a path. Without them, or if a file has that
/// very name, it is the pattern itself. Throws not_found if nothing matches.
std::vector<std::string> expand_pattern(const std::string& pattern, file_system& files = file_system::real());

/// Returns true if a name matches a pattern of `*`, `?` and `[a-z]`.
bool matches_pattern(std::string_view name, std::string_view pattern);

}}} // namespace rill::RILL_ABI::detail

#if !RILL_COMPILED
#include <rill/io/byte_stream.ipp>
#endif
