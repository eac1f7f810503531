// SPDX-License-Identifier: BSD-3-Clause
#include <rill/distributed/retry_budget.hpp>

#include "catch.hpp"

namespace test_retry_budget {

using namespace std::chrono_literals;

/// Returns how many retries a budget has at a time.
int taken(rill::detail::retry_budget& b, rill::detail::retry_budget::time_point now) {
    int n = 0;
    while (b.take(now)) ++n;
    return n;
}

TEST_CASE("retry budget: a tenth of the calls, and ten a second") {
    rill::detail::retry_budget b;
    const rill::detail::retry_budget::time_point start{1h};
    CHECK(taken(b, start) == 10);
    CHECK(taken(b, start) == 0);
    CHECK(taken(b, start + 500ms) == 5);
    CHECK(taken(b, start + 10s) == 10); // seconds that pass add up to no more
    for (int i = 0; i < 505; ++i) b.earn();
    CHECK(taken(b, start + 10s) == 50);
    for (int i = 0; i < 100'000; ++i) b.earn();
    CHECK(taken(b, start + 10s) == 100); // nor do calls
}

} // namespace test_retry_budget
