// SPDX-License-Identifier: BSD-3-Clause
#include <rill/core/shared.hpp>

#include <stdexcept>

#include "catch.hpp"

using namespace rill;

namespace test_core_shared {

struct counted {
    counted(int& n, bool fails = false) : alive(n) {
        if (fails) throw std::runtime_error("no");
        ++alive;
    }
    virtual ~counted() { --alive; }
    int& alive;
};
struct known : std::enable_shared_from_this<known> {
    virtual ~known() = default;
};
struct more_known : known {
    int value = 7;
};

TEST_CASE("shared: what it owns goes with the last owner") {
    int alive = 0;
    auto one = detail::make_shared<const counted>(alive);
    std::weak_ptr<const counted> seen = one;
    auto other = one;
    one.reset();
    CHECK(alive == 1);
    CHECK(seen.lock() == other);
    other.reset();
    CHECK(alive == 0);
    CHECK(seen.expired());
    CHECK_THROWS_AS(detail::make_shared<counted>(alive, true), std::runtime_error);
    CHECK(alive == 0);
}

TEST_CASE("shared: what knows its owners, also through a base") {
    const auto one = detail::make_shared<more_known>();
    CHECK(one->shared_from_this() == one);
    CHECK(one.use_count() == 1);
    CHECK(std::static_pointer_cast<more_known>(one->shared_from_this())->value == 7);
}

} // namespace test_core_shared
