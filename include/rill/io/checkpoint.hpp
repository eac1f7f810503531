// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <rill/core/named_array.hpp>
#include <rill/io/file_system.hpp>

// Checkpoints as files. One is a directory with a shard (header, arrays, index) and a MANIFEST, which is written last and makes it valid; or
// a single file, whose last record is the manifest. All bytes are covered by checksums. Files are never changed once they are complete.

namespace rill { inline namespace RILL_ABI {

/// The contents of a checkpoint's manifest.
struct checkpoint_info {
    std::string path;
    std::string id; // 32 hexadecimal digits, drawn
    std::int64_t step = 0;
    double time = 0; // seconds since 1970
    std::map<std::string, std::string> metadata = {};
};

struct checkpoint_write_options {
    std::int64_t step = 0;
    std::map<std::string, std::string> metadata = {};
    file_system* files = nullptr; // null: the real one
};

/// A checkpoint that is read. The constructor checks the manifest, the lengths, and the checksums of header and index. The bytes of an array
/// are checked when it is read. Files are not trusted: nothing is allocated before its size is checked against the file's.
class checkpoint_reader {
public:
    /// Throws not_found, or data_loss with the file and the reason.
    explicit checkpoint_reader(const std::string& path, file_system& files = file_system::real());
    /// Reads a single-file checkpoint from bytes in memory, which must outlive the reader.
    static checkpoint_reader from_bytes(std::string_view bytes);
    checkpoint_reader(checkpoint_reader&&) noexcept;
    ~checkpoint_reader();

    const checkpoint_info& info() const noexcept;
    /// Returns the names, sorted, and the types of all arrays.
    std::vector<std::pair<std::string, tensor_type>> tensors() const;
    /// Returns the bytes that an array takes in the file; for text those of its characters and lengths.
    std::uint64_t bytes(const std::string& name) const;
    bool has(const std::string& name) const;
    /// Reads an array. Throws not_found, or data_loss with the array's name if a checksum is wrong.
    any_array read(const std::string& name) const;
    /// Reads all arrays, and checks that the bytes between them are zero.
    std::vector<named_array> read_all() const;

private:
    struct state;
    explicit checkpoint_reader(std::unique_ptr<state> s);
    std::unique_ptr<state> state_;
};

/// Returns the path of the newest valid checkpoint in a directory, or "" if there is none: by step, then by time. Damaged ones are passed
/// over, with a warning in the log.
std::string latest_checkpoint(const std::string& directory, file_system& files = file_system::real());
/// Returns the valid checkpoints of a directory, newest first.
std::vector<checkpoint_info> checkpoints_in(const std::string& directory, file_system& files = file_system::real());

namespace detail {

/// Writes a checkpoint as the directory "<prefix>-<step, 10 digits>-<id, 8 digits>", and returns its path. It is visible under that name only
/// once it is complete and durable. After an error nothing of it is left, as far as the file system allows.
std::string write_checkpoint(const std::string& prefix, std::vector<named_array> arrays,
                             const checkpoint_write_options& how);
/// Writes a checkpoint as one file, which replaces an old one once it is complete and durable.
void write_checkpoint_file(const std::string& path, std::vector<named_array> arrays,
                           const checkpoint_write_options& how);
/// Returns the bytes of a single-file checkpoint.
std::string checkpoint_bytes(std::vector<named_array> arrays, const checkpoint_write_options& how);
/// Removes a checkpoint's directory; the manifest goes first.
void remove_checkpoint(const std::string& path, file_system& files);
/// Returns true if a name is "<base>-<step, 10 digits or more>-<8 hexadecimal digits>".
bool is_checkpoint_name(std::string_view name, std::string_view base);
/// Removes what interrupted saves of "<directory>/<base>" have left. No save of that prefix may be running; those of others may.
void remove_unfinished(const std::string& directory, const std::string& base, file_system& files);

} // namespace detail

}} // namespace rill::RILL_ABI

#if !RILL_COMPILED
#include <rill/io/checkpoint.ipp>
#endif
