// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>

namespace io_test {

/// Returns the path of a file of tests/data/input, which tests/data/input_files.py wrote.
inline std::string stored(const std::string& name) {
    const char* const folder = std::getenv("RILL_TEST_DATA"); // else from the root of the tree
    return std::string(folder ? folder : "tests/data") + "/input/" + name;
}

inline std::string stored_bytes(const std::string& name) {
    std::ifstream in(stored(name), std::ios::binary);
    if (!in) throw std::runtime_error("'" + stored(name) + "' can't be opened");
    return {std::istreambuf_iterator<char>(in), {}};
}

} // namespace io_test
