// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <sys/wait.h>
#include <unistd.h>

namespace io_test {

/// Runs f() in a process of its own. Returns what it returns, or -1 if a signal or an exception ended it.
template <class F> int in_child(const F& f) {
    const pid_t child = fork();
    if (child == 0) {
        int status = 255;
        try {
            status = f();
        } catch (...) {}
        _exit(status);
    }
    int status = 0;
    waitpid(child, &status, 0);
    return WIFEXITED(status) && WEXITSTATUS(status) != 255 ? WEXITSTATUS(status) : -1;
}

} // namespace io_test
