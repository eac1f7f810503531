// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <mutex>

#include <rill/config.hpp>

namespace rill { inline namespace RILL_ABI {

/// What a run asks of the world around it: the time, which of several things that could go next does, and to wait. Tests put one in its
/// place in which time passes and things happen as a seed says.
class RILL_EXPORT environment {
public:
    using time_point = std::chrono::steady_clock::time_point;

    virtual ~environment() = default;
    virtual time_point now() = 0;
    /// A number below n.
    virtual std::size_t choose(std::size_t n) = 0;
    /// Comes back when `more` was notified, or at most so much later; perhaps before.
    virtual void wait(std::unique_lock<std::mutex>& lock, std::condition_variable& more,
                      std::chrono::nanoseconds most) = 0;

    /// The clock is the steady one; what became ready last goes next.
    static environment& real();
};

}} // namespace rill::RILL_ABI

#if !RILL_COMPILED
#include <rill/core/environment.ipp>
#endif
