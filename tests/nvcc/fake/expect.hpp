// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdio>
#include <string>

namespace fake_cuda {

inline int problems = 0;

/// Prints `ok` or `WRONG` for what a program sees, and counts the problems.
inline void expect(bool good, const std::string& what) {
    std::printf("%s: %s\n", good ? "ok" : "WRONG", what.c_str());
    problems += good ? 0 : 1;
}

} // namespace fake_cuda
