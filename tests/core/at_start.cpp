// SPDX-License-Identifier: BSD-3-Clause
#include <rill/core/at_start.hpp>

#include "catch.hpp"

using namespace rill;

namespace test_core_at_start {

int calls = 0;
bool count() {
    ++calls;
    return true;
}

TEST_CASE("at_start: a registrar runs before main, and again where it is called") {
    CHECK(calls == 1); // because of the call below
    detail::run_at_start<&count>();
    CHECK(calls == 2);
}

} // namespace test_core_at_start
