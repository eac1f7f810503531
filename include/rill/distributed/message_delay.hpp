// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstdint>
#include <utility>

#include <rill/config.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

/// A detector of delayed messages. The clocks of sender and receiver differ and drift. So a message is compared with the fastest one of
/// this minute and the previous one. Not thread-safe.
class message_delay {
public:
    using time_point = std::chrono::steady_clock::time_point;

    /// Starts with the first message of a sender.
    void begin(std::uint32_t took, time_point now) { quickest_ = before_ = took, minute_ = now; }
    /// Returns by how much a message was slower than the fastest one. `took`: the transit time in milliseconds, modulo 2^32, including the
    /// difference of the clocks.
    std::chrono::milliseconds of(std::uint32_t took, time_point now) {
        if (now - minute_ > std::chrono::minutes(1))
            before_ = std::exchange(quickest_, took), minute_ = now;
        else if (is_less(took, quickest_))
            quickest_ = took;
        return std::chrono::milliseconds(took - (is_less(quickest_, before_) ? quickest_ : before_));
    }

private:
    static bool is_less(std::uint32_t a, std::uint32_t b) { return static_cast<std::int32_t>(a - b) < 0; }

    std::uint32_t quickest_ = 0, before_ = 0;
    time_point minute_{};
};

}}} // namespace rill::RILL_ABI::detail
