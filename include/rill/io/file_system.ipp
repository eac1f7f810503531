// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/io/file_system.hpp>

#include <algorithm>
#include <cerrno>
#include <utility>

#if defined(__unix__) || defined(__APPLE__)
#define RILL_DETAIL_POSIX_FILES 1
#include <cstdio>
#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#else
#define RILL_DETAIL_POSIX_FILES 0
#endif

#include <rill/core/platform.hpp>
#include <rill/core/text_file.hpp>

namespace rill { inline namespace RILL_ABI {

namespace detail {

#if RILL_DETAIL_POSIX_FILES

/// A file descriptor, and its path for messages.
class posix_file {
public:
    /// Repeats a system call while signals interrupt it.
    template <class F> static auto again(const F& call) {
        auto result = call();
        while (result < 0 && errno == EINTR) result = call();
        return result;
    }

    posix_file(const std::string& path, int flags)
        : path_(path), number_(again([&] { return ::open(path.c_str(), flags, 0666); })) {
        if (number_ < 0) refuse("open");
    }
    posix_file(const posix_file&) = delete;
    ~posix_file() {
        if (number_ >= 0) ::close(number_);
    }

    [[noreturn]] void refuse(const char* operation) const {
        refuse_file(std::string(operation) + " '" + path_ + "'", errno);
    }

    int number() const { return number_; }
    const std::string& path() const { return path_; }
    void write_at(std::uint64_t offset, std::string_view bytes) const {
        while (!bytes.empty()) {
            const auto n =
                again([&] { return ::pwrite(number_, bytes.data(), bytes.size(), static_cast<off_t>(offset)); });
            if (n < 0) refuse("write");
            bytes.remove_prefix(static_cast<std::size_t>(n));
            offset += static_cast<std::uint64_t>(n);
        }
    }
    void close() {
        const int number = std::exchange(number_, -1);
        if (number >= 0 && ::close(number) != 0 && errno != EINTR) refuse("close");
    }

private:
    std::string path_;
    int number_;
};

class posix_output final : public output_file {
public:
    explicit posix_output(const std::string& path) : file_(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC) {}
    void append(std::string_view bytes) override {
        file_.write_at(end_, bytes);
        end_ += bytes.size();
    }
    void write_at(std::uint64_t offset, std::string_view bytes) override { file_.write_at(offset, bytes); }
    void sync() override {
        if (posix_file::again([&] { return ::fsync(file_.number()); }) != 0) file_.refuse("fsync");
    }
    void close() override { file_.close(); }

private:
    posix_file file_;
    std::uint64_t end_ = 0;
};

class posix_input final : public input_file {
public:
    explicit posix_input(const std::string& path) : file_(path, O_RDONLY | O_CLOEXEC) {
        struct stat about;
        if (::fstat(file_.number(), &about) != 0) file_.refuse("fstat");
        if (S_ISDIR(about.st_mode)) errno = EISDIR, file_.refuse("open");
        size_ = static_cast<std::uint64_t>(about.st_size);
    }
    std::uint64_t size() const override { return size_; }
    void read_at(std::uint64_t offset, void* to, std::size_t bytes) const override {
        auto* at = static_cast<char*>(to);
        while (bytes > 0) {
            const auto n =
                posix_file::again([&] { return ::pread(file_.number(), at, bytes, static_cast<off_t>(offset)); });
            if (n < 0) file_.refuse("read");
            if (n == 0) throw data_loss("read '" + file_.path() + "': it ends at byte " + std::to_string(offset));
            at += n;
            bytes -= static_cast<std::size_t>(n);
            offset += static_cast<std::uint64_t>(n);
        }
    }

private:
    posix_file file_;
    std::uint64_t size_ = 0;
};

class posix_file_system final : public file_system {
public:
    std::unique_ptr<output_file> create(const std::string& path) override {
        return std::make_unique<posix_output>(path);
    }
    std::unique_ptr<input_file> open(const std::string& path) override { return std::make_unique<posix_input>(path); }
    void rename(const std::string& from, const std::string& to) override {
        if (std::rename(from.c_str(), to.c_str()) != 0) refuse_file("rename '" + from + "' to '" + to + "'", errno);
    }
    void remove(const std::string& path) override {
        if (std::remove(path.c_str()) != 0) refuse_file("remove '" + path + "'", errno);
    }
    void make_directory(const std::string& path) override {
        if (::mkdir(path.c_str(), 0777) == 0) return;
        const int problem = errno;
        struct stat about;
        if (problem == EEXIST && ::stat(path.c_str(), &about) == 0 && S_ISDIR(about.st_mode)) return;
        refuse_file("mkdir '" + path + "'", problem);
    }
    void sync_directory(const std::string& path) override {
        const posix_file directory(path, O_RDONLY | O_CLOEXEC);
        // Some file systems can't sync a directory, and say EINVAL.
        if (posix_file::again([&] { return ::fsync(directory.number()); }) != 0 && errno != EINVAL)
            directory.refuse("fsync");
    }
    std::vector<std::string> list(const std::string& path) override {
        const std::unique_ptr<DIR, int (*)(DIR*)> directory(::opendir(path.c_str()), &::closedir);
        if (!directory) refuse_file("list '" + path + "'", errno);
        std::vector<std::string> names;
        while (const auto* each = ::readdir(directory.get()))
            if (const std::string name = each->d_name; name != "." && name != "..") names.push_back(name);
        std::sort(names.begin(), names.end());
        return names;
    }
    bool exists(const std::string& path) override { return ::access(path.c_str(), F_OK) == 0; }
};

#endif

RILL_COLD std::string directory_of(const std::string& path) {
    const auto slash = path.rfind('/');
    return slash == std::string::npos ? "." : slash == 0 ? "/" : path.substr(0, slash);
}

RILL_COLD std::string base_of(const std::string& path) { return path.substr(path.rfind('/') + 1); }

RILL_COLD std::string joined_path(const std::string& directory, const std::string& name) {
    return directory.empty() || directory == "." ? name : directory + (directory.back() == '/' ? "" : "/") + name;
}

RILL_COLD std::string normalized_path(const std::string& path) {
    std::string made = path.starts_with('/') ? "/" : "";
    for (std::size_t at = 0; at < path.size();) {
        const auto end = std::min(path.find('/', at), path.size());
        const auto part = path.substr(at, end - at);
        at = end + 1;
        if (part.empty() || part == ".") continue;
        if (!made.empty() && made.back() != '/') made += '/';
        made += part;
    }
    return made;
}

RILL_COLD void make_directories(file_system& files, const std::string& path) {
    if (path.empty() || files.exists(path)) return;
    const auto above = directory_of(path);
    if (above != path) make_directories(files, above);
    files.make_directory(path);
    files.sync_directory(above);
}

RILL_COLD std::string read_whole(file_system& files, const std::string& path, std::uint64_t most) {
    const auto file = files.open(path);
    if (file->size() > most)
        throw data_loss("'" + path + "' has " + std::to_string(file->size()) + " bytes, more than " +
                        std::to_string(most));
    std::string bytes(static_cast<std::size_t>(file->size()), '\0');
    file->read_at(0, bytes.data(), bytes.size());
    return bytes;
}

RILL_COLD void replace_file(file_system& files, const std::string& path, const std::function<void(output_file&)>& write,
                            const std::string& owner) {
    const std::string beside = joined_path(directory_of(path), ".tmp-" + (owner.empty() ? base_of(path) : owner) + "-" +
                                                                   std::to_string(random_bits() % 100000000));
    try {
        const auto to = files.create(beside);
        write(*to);
        to->sync();
        to->close();
        files.rename(beside, path);
    } catch (...) {
        try {
            files.remove(beside);
        } catch (const error&) { // it may not exist; report the first error
        }
        throw;
    }
    files.sync_directory(directory_of(path));
}

} // namespace detail

/// Returns the file system of the process. It is leaked, because savers of static objects may write late.
RILL_EXPORT RILL_COLD file_system& file_system::real() {
#if RILL_DETAIL_POSIX_FILES
    static file_system& all = *new detail::posix_file_system;
    return all;
#else
    throw unimplemented("file_system::real: checkpoints need a POSIX system");
#endif
}

}} // namespace rill::RILL_ABI
