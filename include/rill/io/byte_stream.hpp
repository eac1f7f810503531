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

/// A file that is read sequentially, in blocks. A gzip file, recognized by its first bytes, is decompressed if zlib is available. Errors
/// name the path. After an error of the file or of its compression the stream is at its end.
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
    /// Appends the buffered bytes, and returns false at the end.
    bool append_some(std::string& to);
    /// Reads a line without its terminator, which is LF, CRLF or CR. Returns false at the end. Skips a byte-order mark at the beginning of
    /// the file. Throws invalid_argument for a line of more than `most` bytes; the next call continues after it.
    bool read_line(std::string& to, std::size_t most);
    /// Skips bytes up to a later offset. Throws data_loss if the file ends before.
    void skip_to(std::uint64_t offset);

private:
    bool load();
    void fill_block();
    /// Returns the position of the next LF in the block; its size if there is none.
    std::size_t next_feed();

    const std::string path_;
    std::unique_ptr<input_file> file_;
    std::uint64_t file_at_ = 0, before_ = 0; // bytes read from the file; bytes returned before this block
    std::unique_ptr<gzip_reader> gzip_;
    std::string block_;
    std::size_t at_ = 0;
    std::int64_t feed_ = -1; // the result of next_feed, unless it lies before at_
    bool has_failed_ = false;
};

/// Returns the paths that match a pattern, sorted: `*`, `?` and `[a-z]` in the last part of a path. A pattern without these, or with the
/// exact name of a file, is that path itself. Throws not_found if nothing matches.
std::vector<std::string> expand_pattern(const std::string& pattern, file_system& files = file_system::real());

/// Returns true if a name matches a pattern of `*`, `?` and `[a-z]`.
bool matches_pattern(std::string_view name, std::string_view pattern);

}}} // namespace rill::RILL_ABI::detail

#if !RILL_COMPILED
#include <rill/io/byte_stream.ipp>
#endif
