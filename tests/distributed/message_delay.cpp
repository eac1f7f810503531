// SPDX-License-Identifier: BSD-3-Clause
#include <rill/distributed/message_delay.hpp>

#include "catch.hpp"

namespace test_message_delay {

using namespace std::chrono_literals;

TEST_CASE("message delay: late messages beside quick ones, with clocks that differ and drift") {
    rill::detail::message_delay d;
    std::chrono::steady_clock::time_point now{1h};
    const std::uint32_t apart = 0xffff'fff0u; // the clocks differ, and the sum passes 2^32
    d.begin(apart + 5, now);
    CHECK(d.of(apart + 5, now) == 0ms);
    CHECK(d.of(apart + 40, now) == 35ms);
    CHECK(d.of(apart + 2, now) == 0ms);
    CHECK(d.of(apart + 600'002, now + 10min) == 600s); // the first message after a long sleep
    CHECK(d.of(apart + 3, now + 10min) == 1ms);
    for (int k = 1; k < 10; ++k) // a clock that loses 100 ms a minute
        CHECK(d.of(apart + static_cast<std::uint32_t>(k) * 100, now + 10min + k * 61s) <= 100ms);
}

} // namespace test_message_delay
