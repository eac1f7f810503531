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

// Checkpoints as files. A checkpoint is a directory with shards (header, arrays, index) and a MANIFEST, which is written last and makes it
// valid. Or it is a single file, whose last record is the manifest. Checksums cover all bytes. Complete files are never changed.

namespace rill { inline namespace RILL_ABI {

/// The contents of a checkpoint's manifest.
struct checkpoint_info {
    std::string path;
    std::string id; // 32 hexadecimal digits, drawn
    std::int64_t step = 0;
    double time = 0; // seconds since 1970
    std::map<std::string, std::string> metadata = {};
};

/// A slice of a larger array: elements start, start + step, … along an axis, and all elements along the others.
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
    int shards = 1;               // the number of files, balanced by size
    std::string id = {};          // 16 bytes; empty: drawn
    /// The slices of larger arrays, by the names of the given arrays. A checkpoint holds the larger ones.
    std::map<std::string, saved_slice> slices = {};
    bool verify = false; // reads everything back before the checkpoint gets its name
};

struct merge_options {
    bool delete_old = true;       // removes the merged checkpoints
    file_system* files = nullptr; // null: the real one
};

/// A reader of a checkpoint. The constructor checks the manifest, the lengths, and the checksums of header and index. The bytes of an array
/// are checked when it is read. Files are untrusted: a size is checked against the file's before memory is allocated.
class checkpoint_reader {
public:
    /// Opens a checkpoint. Throws not_found, or data_loss with the file and the reason.
    explicit checkpoint_reader(const std::string& path, file_system& files = file_system::real());
    /// Reads a single-file checkpoint from bytes in memory, which must outlive the reader.
    static checkpoint_reader from_bytes(std::string_view bytes);
    checkpoint_reader(checkpoint_reader&&) noexcept;
    ~checkpoint_reader();

    const checkpoint_info& info() const noexcept;
    /// Returns the names, sorted, and the types of all arrays. An array that was saved in slices counts once.
    std::vector<std::pair<std::string, tensor_type>> tensors() const;
    /// Returns the bytes that an array takes in the files. For text these are its characters and lengths.
    std::uint64_t bytes(const std::string& name) const;
    bool has(const std::string& name) const;
    /// Reads an array, and assembles it if it was saved in slices. Throws not_found, or data_loss with the array's name if a checksum is
    /// wrong or a slice is missing.
    any_array read(const std::string& name) const;
    /// Reads a part of an array, from the slices that hold it. Throws invalid_argument if the array has another shape.
    any_array read_slice(const saved_slice& part) const;
    /// Reads all arrays, and checks that the bytes between them are zero. `slices` replace the arrays that they belong to; their keys are
    /// the names of the results.
    std::vector<named_array> read_all(const std::map<std::string, saved_slice>& slices = {}) const;
    /// Reads all bytes, one array or slice at a time, and throws data_loss if any differ from their checksums. Slices of an array may be in
    /// other checkpoints.
    void check() const;

private:
    friend std::string merge_checkpoints(const std::vector<std::string>& paths, const std::string& prefix,
                                         const merge_options& how);
    struct state;
    explicit checkpoint_reader(std::unique_ptr<state> s);
    std::unique_ptr<state> state_;
};

/// Returns the path of the newest valid checkpoint in a directory, or "" if there is none. Newest means by step, then by time. Skips
/// damaged checkpoints with a warning in the log. Checks the manifest, all lengths, and the checksums of headers and indices; it does not
/// read the arrays. saver::restore_latest reads them, and goes on to an older checkpoint if one is damaged.
std::string latest_checkpoint(const std::string& directory, file_system& files = file_system::real());
/// Returns the valid checkpoints of a directory, newest first. Checks them as latest_checkpoint does.
std::vector<checkpoint_info> checkpoints_in(const std::string& directory, file_system& files = file_system::real());

/// Returns the name of a shard: "model-00001-of-00003" for ("model", 1, 3), as TensorFlow's sharded_filename.
std::string sharded_filename(const std::string& base, int shard, int shards);

/// Merges checkpoints with different arrays, or different slices of arrays, into "<prefix>-<step>-<id>". Parameter servers write such
/// checkpoints. Shards are copied unchanged. The step is the latest one. Returns the path. Throws invalid_argument if an array is in two of
/// them, and the errors of checkpoint_reader.
std::string merge_checkpoints(const std::vector<std::string>& paths, const std::string& prefix,
                              const merge_options& how = {});

namespace detail {

/// Returns the valid checkpoints of a directory, and appends what is wrong with the others.
std::vector<checkpoint_info> readable_checkpoints(const std::string& directory, file_system& files, std::string& problems);
/// Writes a checkpoint as the directory "<prefix>-<step, 10 digits>-<id, 8 digits>", and returns its path. The name appears only once the
/// checkpoint is complete and durable. An error removes all of its files, as far as the file system allows.
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
/// Makes a checkpoint's directory. `fill(directory, names)` writes the shards and returns the manifest. It adds the name of each shard
/// before it creates the file. `verify` reads everything back before the checkpoint gets its name. An error removes all files. Returns the
/// path.
std::string commit_checkpoint(
    const std::string& prefix, std::int64_t step, const std::string& id, bool verify, file_system& files,
    const std::function<std::string(const std::string& directory, std::vector<std::string>& names)>& fill);
/// Removes the leftovers of interrupted saves and removals of "<directory>/<base>". No save of that prefix may be running; saves of others
/// may.
void remove_unfinished(const std::string& directory, const std::string& base, file_system& files);

} // namespace detail

}} // namespace rill::RILL_ABI

#if !RILL_COMPILED
#include <rill/io/checkpoint.ipp>
#include <rill/io/checkpoint_merge.ipp>
#include <rill/io/checkpoint_write.ipp>
#endif
