// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <rill/core/error.hpp>

namespace rill { inline namespace RILL_ABI {

/// A file for writing. Errors name the operation and the path: resource_exhausted (a full disk), permission_denied, data_loss.
class output_file {
public:
    virtual ~output_file() = default;
    virtual void append(std::string_view bytes) = 0;
    /// Overwrites bytes that were appended before.
    virtual void write_at(std::uint64_t offset, std::string_view bytes) = 0;
    /// Makes the bytes durable. After a failure the file must not be used: a second sync may succeed without having written anything.
    virtual void sync() = 0;
    virtual void close() = 0;
};

/// A file for reading.
class input_file {
public:
    virtual ~input_file() = default;
    virtual std::uint64_t size() const = 0;
    /// Reads exactly `bytes` bytes. Throws data_loss if the file ends before.
    virtual void read_at(std::uint64_t offset, void* to, std::size_t bytes) const = 0;
};

/// The file operations of checkpoints and event files. A test may provide a file system that fails or loses data.
class file_system {
public:
    virtual ~file_system() = default;
    /// Returns the file system of the operating system.
    static file_system& real();

    /// Creates a file, or empties an existing one.
    virtual std::unique_ptr<output_file> create(const std::string& path) = 0;
    /// Throws not_found if there is no such file.
    virtual std::unique_ptr<input_file> open(const std::string& path) = 0;
    /// Renames a file or a directory. An existing file of the new name is replaced.
    virtual void rename(const std::string& from, const std::string& to) = 0;
    /// Removes a file or an empty directory.
    virtual void remove(const std::string& path) = 0;
    /// Makes a directory. An existing one is accepted; its parent must exist.
    virtual void make_directory(const std::string& path) = 0;
    /// Makes the names in a directory durable, after files in it were created, renamed or removed.
    virtual void sync_directory(const std::string& path) = 0;
    /// Returns the names in a directory, sorted. Throws not_found if there is no such directory.
    virtual std::vector<std::string> list(const std::string& path) = 0;
    virtual bool exists(const std::string& path) = 0;
};

namespace detail {

/// A file that is written to memory.
class memory_output final : public output_file {
public:
    void append(std::string_view bytes) override { all.append(bytes); }
    void write_at(std::uint64_t offset, std::string_view bytes) override {
        all.replace(static_cast<std::size_t>(offset), bytes.size(), bytes);
    }
    void sync() override {}
    void close() override {}

    std::string all;
};

/// A file that is read from memory, which must outlive it.
class memory_input final : public input_file {
public:
    explicit memory_input(std::string_view bytes) : bytes_(bytes) {}
    std::uint64_t size() const override { return bytes_.size(); }
    void read_at(std::uint64_t offset, void* to, std::size_t bytes) const override {
        if (offset > bytes_.size() || bytes > bytes_.size() - offset) throw data_loss("read: the bytes in memory end");
        bytes_.copy(static_cast<char*>(to), bytes, static_cast<std::size_t>(offset));
    }

private:
    std::string_view bytes_;
};

/// Returns the directory of a path: "run" for "run/model", "." for "model", "/" for "/model".
std::string directory_of(const std::string& path);
/// Returns the last part of a path: "model" for "run/model".
std::string base_of(const std::string& path);
std::string joined_path(const std::string& directory, const std::string& name);
/// Returns a path without "." and empty parts: "run/model" for "./run//model".
std::string normalized_path(const std::string& path);
/// Makes a directory and its missing parents.
void make_directories(file_system& files, const std::string& path);
/// Reads a whole file. Throws data_loss if it is longer than `most` bytes, before any memory is allocated.
std::string read_whole(file_system& files, const std::string& path, std::uint64_t most);
/// Replaces a file: writes a new one beside it, makes it durable and renames it. `write(file)` appends the bytes. After an error the old
/// file is unchanged. If only the directory could not be made durable, either file may remain. The new file is first named
/// ".tmp-<owner>-<digits>". The default owner is the name of the old file.
void replace_file(file_system& files, const std::string& path, const std::function<void(output_file&)>& write,
                  const std::string& owner = {});

} // namespace detail

}} // namespace rill::RILL_ABI

#if !RILL_COMPILED
#include <rill/io/file_system.ipp>
#endif
