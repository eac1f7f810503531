// SPDX-License-Identifier: BSD-3-Clause
#include <rill/resources/waited_resource.hpp>

#include "catch.hpp"
#include "ops/sync/pretend_wait.hpp"

using namespace rill;

namespace test_ops_sync_waited_resource {

/// A heap of things to take.
class heap final : public detail::waited_resource {
public:
    heap() : waited_resource("h") {}
    std::string described() const override { return "heap"; }
    bool take(index_t n, async_context& wait) { return start({.count = n}, wait); }
    void put(index_t n) {
        change([&] { left_ += n; });
    }

private:
    std::string described_kind() const override { return "heap"; }
    bool serve(attempt& a) override {
        if (a.count < 0) throw invalid_argument("below 0");
        if (left_ < a.count) return false;
        left_ -= a.count;
        return true;
    }
    index_t left_ = 0;
};

TEST_CASE("waited_resource: the first in line is tried, those behind it wait for it") {
    const auto h = std::make_shared<heap>();
    sync_test::pretend_wait large, small, none;
    CHECK_FALSE(h->take(3, large));
    CHECK_FALSE(h->take(1, small));
    h->put(1);
    CHECK((!large.came() && !small.came()));
    h->put(3);
    CHECK((large.came() && small.came()));
    CHECK(h->take(0, none));
    CHECK_FALSE(none.asked);
}

TEST_CASE("waited_resource: one that gives up makes way, one that has come does not") {
    const auto h = std::make_shared<heap>();
    sync_test::pretend_wait large, small;
    h->take(3, large);
    h->take(1, small);
    h->put(1);
    CHECK(large.give_up());
    CHECK(small.came());
    CHECK_FALSE(small.give_up());
    CHECK_FALSE(large.came());
}

TEST_CASE("waited_resource: errors reach who asked, and those who wait when its container is reset") {
    const auto h = std::make_shared<heap>();
    sync_test::pretend_wait wrong, waits;
    CHECK_THROWS_AS(h->take(-1, wrong), invalid_argument);
    h->take(3, waits);
    h->abandon();
    REQUIRE(waits.problem());
    CHECK_THROWS_WITH(std::rethrow_exception(waits.problem()), contains("heap 'h'") && contains("reset"));
    // one who gives up after the resource has gone
    auto gone = std::make_shared<heap>();
    sync_test::pretend_wait late;
    gone->take(1, late);
    gone.reset();
    CHECK(late.give_up());
}

} // namespace test_ops_sync_waited_resource
