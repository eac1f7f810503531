// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdio>
#include <cstdlib>

/// Ends the program with an error if what it claims is not so: every example checks itself, and the tests run it.
inline void expect(bool holds, const char* what) {
    if (holds) return;
    std::fprintf(stderr, "expected: %s\n", what);
    std::exit(1);
}
