// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <rill/core/named_array.hpp>
#include <rill/io/file_system.hpp>

// Checkpoints as files. One is a directory with shards (header, arrays, index) and a MANIFEST, which is written last and makes it valid; or
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

/// Where an array lies in a larger one: elements start, start + step, … along an axis, and all along the others.
struct saved_slice {
    std::string of = {}; // the name of the larger array
    dims shape = {};     // of the larger array
    int axis = 0;
    index_t start = 0, extent = 0, step = 1;

    /// Returns the shape of the slice itself.
    dims own_shape() const {
        dims own = shape;
        own[axis] = extent;
        return own;
    }
};

struct checkpoint_write_options {
    std::int64_t step = 0;
    std::map<std::string, std::string> metadata = {};
    file_system* files = nullptr; // null: the real one
    int shards = 1;               // files that the arrays are spread over, by size
    std::string id = {};          // 16 bytes; empty: drawn
    /// Of arrays that are parts of larger ones, by their names. A checkpoint holds the larger ones.
    std::map<std::string, saved_slice> slices = {};
};

struct merge_options {
    bool delete_old = true;       // removes the checkpoints that were merged
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
    /// Returns the names, sorted, and the types of all arrays. One that was saved in slices is one array.
    std::vector<std::pair<std::string, tensor_type>> tensors() const;
    /// Returns the bytes that an array takes in the files; for text those of its characters and lengths.
    std::uint64_t bytes(const std::string& name) const;
    bool has(const std::string& name) const;
    /// Reads an array, and puts it together if it was saved in slices. Throws not_found, or data_loss with the array's name if a checksum
    /// is wrong or a slice is missing.
    any_array read(const std::string& name) const;
    /// Reads a part of an array, from those slices that hold it. Throws invalid_argument if the array has another shape.
    any_array read_slice(const saved_slice& part) const;
    /// Reads all arrays, and checks that the bytes between them are zero. `slices` are read in place of the arrays that they are of, under
    /// the names that they have there.
    std::vector<named_array> read_all(const std::map<std::string, saved_slice>& slices = {}) const;

private:
    friend std::string merge_checkpoints(const std::vector<std::string>& paths, const std::string& prefix,
                                         const merge_options& how);
    struct state;
    explicit checkpoint_reader(std::unique_ptr<state> s);
    std::unique_ptr<state> state_;
};

/// Returns the path of the newest valid checkpoint in a directory, or "" if there is none: by step, then by time. Damaged ones are passed
/// over, with a warning in the log.
std::string latest_checkpoint(const std::string& directory, file_system& files = file_system::real());
/// Returns the valid checkpoints of a directory, newest first.
std::vector<checkpoint_info> checkpoints_in(const std::string& directory, file_system& files = file_system::real());

/// Returns the name of a shard: "model-00001-of-00003" for ("model", 1, 3), as TensorFlow's sharded_filename.
std::string sharded_filename(const std::string& base, int shard, int shards);

/// Makes one checkpoint "<prefix>-<step>-<id>" of several that hold different arrays, or slices of the same ones, such as those that
/// parameter servers have written. Their shards are copied as they are. The step is the latest one. Returns the path. Throws
/// invalid_argument if an array is in two of them, and the errors of checkpoint_reader.
std::string merge_checkpoints(const std::vector<std::string>& paths, const std::string& prefix,
                              const merge_options& how = {});

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
/// Returns the base of a name "<base>-<step, 10 digits or more>-<8 hexadecimal digits>"; empty for other names.
std::string_view base_of_checkpoint(std::string_view name);
/// Makes a checkpoint's directory: `fill(directory, names)` writes the shards, adds the name of each before it is made, and returns the
/// manifest. After an error nothing is left. Returns the path.
std::string commit_checkpoint(
    const std::string& prefix, std::int64_t step, const std::string& id, file_system& files,
    const std::function<std::string(const std::string& directory, std::vector<std::string>& names)>& fill);
/// Removes what interrupted saves and removals of "<directory>/<base>" have left. No save of that prefix may be running; those of others may.
void remove_unfinished(const std::string& directory, const std::string& base, file_system& files);

} // namespace detail

}} // namespace rill::RILL_ABI

#if !RILL_COMPILED
#include <rill/io/checkpoint.ipp>
#include <rill/io/checkpoint_merge.ipp>
#include <rill/io/checkpoint_write.ipp>
#endif
