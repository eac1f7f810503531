// SPDX-License-Identifier: BSD-3-Clause
#include <rill/core/owned.hpp>

#include "catch.hpp"

using namespace rill;

namespace test_core_owned {

struct counted {
    explicit counted(int& n) : alive(n) { ++alive; }
    ~counted() { --alive; }
    int& alive;
};

TEST_CASE("owned: what it owns goes with it") {
    int alive = 0;
    {
        const auto one = detail::owned_by_pointer(std::make_unique<counted>(alive));
        CHECK(one);
        CHECK(alive == 1);
        auto moved = detail::owned_by_pointer<const counted>(std::make_unique<const counted>(alive));
        auto none = detail::owns_none<const counted>();
        CHECK_FALSE(none);
        none = std::move(moved);
        CHECK(none);
        CHECK(alive == 2);
    }
    CHECK(alive == 0);
}

} // namespace test_core_owned
