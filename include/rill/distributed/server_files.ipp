// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/distributed/server_files.hpp>

#include <algorithm>
#include <filesystem>

#include <rill/core/error.hpp>

namespace rill { inline namespace RILL_ABI {

namespace detail {

class files_below final : public file_access {
public:
    explicit files_below(const std::string& directory) : root_(root_of(std::filesystem::weakly_canonical(directory))) {}

    void check(const std::string& path) const override {
        std::error_code problem;
        const auto real = std::filesystem::weakly_canonical(path, problem);
        const auto differ = std::mismatch(root_.begin(), root_.end(), real.begin(), real.end());
        const bool is_cut = path.find('\0') != std::string::npos; // the system would open only the text before it
        if (problem || is_cut || differ.first != root_.end())
            throw permission_denied("the server's steps may open files below " + root_.string() + ", not '" + path +
                                    "'");
    }

private:
    /// Returns the path without its trailing '/', which a directory that does not exist yet would keep.
    static std::filesystem::path root_of(const std::filesystem::path& p) {
        return p.has_filename() ? p : p.parent_path();
    }

    const std::filesystem::path root_;
};

class files_of_nobody final : public file_access {
public:
    void check(const std::string& path) const override {
        throw permission_denied("the server's steps may open no files, and not '" + path +
                                "': its options say .files = below(directory) to change that");
    }
};

RILL_COLD const file_access& no_files() {
    static const files_of_nobody& none = *new files_of_nobody; // leaked: servers may be static
    return none;
}

} // namespace detail

RILL_COLD std::shared_ptr<const file_access> below(const std::string& directory) {
    return std::make_shared<const detail::files_below>(directory);
}

}} // namespace rill::RILL_ABI
