// SPDX-License-Identifier: BSD-3-Clause
#include <rill/core/cancellation.hpp>

#include <atomic>
#include <optional>
#include <thread>
#include <vector>

#include <rill/runtime/options.hpp>

#include "catch.hpp"

using namespace rill;

namespace test_core_cancellation {

TEST_CASE("cancellation: callbacks are called once, at once if it has come, and not when withdrawn") {
    const auto c = std::make_shared<cancellation>();
    int first = 0, withdrawn = 0, late = 0;
    const auto kept = c->on_cancel([&] { ++first; });
    {
        const auto gone = c->on_cancel([&] { ++withdrawn; });
    }
    CHECK_FALSE(c->is_cancelled());
    c->cancel();
    c->cancel();
    CHECK(c->is_cancelled());
    const auto after = c->on_cancel([&] { ++late; });
    CHECK(first == 1);
    CHECK(withdrawn == 0);
    CHECK(late == 1);
}

TEST_CASE("cancellation: a callback may withdraw itself and others, and outlive what it was registered with") {
    auto c = std::make_shared<cancellation>();
    std::optional<cancellation::registration> own, other;
    int calls = 0;
    own = c->on_cancel([&] {
        ++calls;
        own.reset();
        other.reset(); // its call has begun, or it is not called any more
    });
    other = c->on_cancel([&] { ++calls; });
    c->cancel();
    CHECK(calls >= 1);
    const auto left = c->on_cancel([] {});
    c.reset(); // before its registrations
}

TEST_CASE("cancellation: registered and withdrawn on threads while it comes") {
    for (int round = 0; round < 50; ++round) {
        const cancellation_token token;
        std::atomic<int> called{0};
        std::vector<std::thread> threads;
        for (int t = 0; t < 3; ++t)
            threads.emplace_back([&] {
                for (int i = 0; i < 100; ++i) const auto r = token.on_cancel([&] { ++called; });
                while (!token.is_cancelled()) std::this_thread::yield();
                const auto last = token.on_cancel([&] { called += 1000; });
            });
        token.cancel();
        for (auto& t : threads) t.join();
        CHECK(called >= 3000);
    }
}

} // namespace test_core_cancellation
