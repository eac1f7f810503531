// SPDX-License-Identifier: BSD-3-Clause
#include <rill/core/platform.hpp>

#include <thread>

#include "catch.hpp"

TEST_CASE("platform: at least one processor, and not more than there are") {
    const int usable = rill::detail::usable_processors();
    CHECK(usable >= 1);
    if (const auto all = std::thread::hardware_concurrency()) CHECK(usable <= static_cast<int>(all));
}
