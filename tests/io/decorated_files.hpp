// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <rill/io/file_system.hpp>

namespace io_test {

using namespace rill;

/// A file system that calls a function before each operation of another one. What the function throws is the operation's error.
class decorated_files final : public file_system {
public:
    using watcher = std::function<void(const char* operation, const std::string& path)>;

    explicit decorated_files(watcher before, file_system& of = file_system::real(), bool syncs = true)
        : before_(std::move(before)), of_(of), syncs_(syncs) {}

    std::unique_ptr<output_file> create(const std::string& path) override {
        before_("create", path);
        return std::make_unique<output>(*this, of_.create(path), path);
    }
    std::unique_ptr<input_file> open(const std::string& path) override {
        before_("open", path);
        return of_.open(path);
    }
    void rename(const std::string& from, const std::string& to) override {
        before_("rename", from);
        of_.rename(from, to);
    }
    void remove(const std::string& path) override {
        before_("remove", path);
        of_.remove(path);
    }
    void make_directory(const std::string& path) override {
        before_("mkdir", path);
        of_.make_directory(path);
    }
    void sync_directory(const std::string& path) override {
        before_("fsync", path);
        if (syncs_) of_.sync_directory(path);
    }
    std::vector<std::string> list(const std::string& path) override {
        before_("list", path);
        return of_.list(path);
    }
    bool exists(const std::string& path) override { return of_.exists(path); }

private:
    class output final : public output_file {
    public:
        output(const decorated_files& in, std::unique_ptr<output_file> to, std::string path)
            : in_(in), to_(std::move(to)), path_(std::move(path)) {}
        void append(std::string_view bytes) override {
            in_.before_("write", path_);
            to_->append(bytes);
        }
        void write_at(std::uint64_t offset, std::string_view bytes) override {
            in_.before_("write", path_);
            to_->write_at(offset, bytes);
        }
        void sync() override {
            in_.before_("fsync", path_);
            if (in_.syncs_) to_->sync();
        }
        void close() override {
            in_.before_("close", path_);
            to_->close();
        }

    private:
        const decorated_files& in_;
        std::unique_ptr<output_file> to_;
        std::string path_;
    };

    const watcher before_;
    file_system& of_;
    const bool syncs_;
};

} // namespace io_test
