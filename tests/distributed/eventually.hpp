// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <thread>

/// Asks for a condition every few milliseconds. Returns false if it does not hold within `most`. For facts of the system that wake no one; a
/// test waits for its own values by `watched`.
template <class F> bool eventually(const F& condition, std::chrono::milliseconds most = std::chrono::seconds(20)) {
    const auto until = std::chrono::steady_clock::now() + most;
    while (!condition()) {
        if (std::chrono::steady_clock::now() > until) return false;
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    return true;
}
