// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <chrono>

#include <rill/config.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

/// The budget of a channel for sending messages again without an answer. It is one retry per ten calls, plus ten a second, so that a
/// channel with few calls recovers. It keeps retries from adding load to a slow peer. Not thread-safe.
class retry_budget {
public:
    using time_point = std::chrono::steady_clock::time_point;

    /// Counts a call.
    void earn() { left_ = std::min(left_ + of_a_call, most); }
    /// Takes a retry. Returns false if none is left.
    bool take(time_point now) {
        if (now > since_) {
            const auto seconds = std::chrono::duration<double>(now - since_).count();
            if (left_ < a_second) left_ = std::min(left_ + seconds * a_second, a_second);
            since_ = now;
        }
        if (left_ < 1) return false;
        left_ -= 1;
        return true;
    }

private:
    static constexpr double of_a_call = 0.1, a_second = 10, most = 100;

    double left_ = a_second;
    time_point since_{};
};

}}} // namespace rill::RILL_ABI::detail
