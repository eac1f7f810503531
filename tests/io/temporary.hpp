// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>

namespace io_test {

/// A directory that is removed at the end of the test.
class temporary_directory {
public:
    temporary_directory() {
        std::string pattern = (std::filesystem::temp_directory_path() / ("rill-test-" + std::string(6, 'X'))).string();
        path_ = mkdtemp(pattern.data()) ? pattern : std::string();
        if (path_.empty()) throw std::runtime_error("no temporary directory");
    }
    temporary_directory(const temporary_directory&) = delete;
    ~temporary_directory() { std::filesystem::remove_all(path_); }

    const std::string& path() const { return path_; }
    std::string operator/(const std::string& name) const { return path_ + "/" + name; }

private:
    std::string path_;
};

} // namespace io_test
