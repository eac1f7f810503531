// SPDX-License-Identifier: BSD-3-Clause
#include <rill/core/environment.hpp>

#include <atomic>
#include <vector>

#include "catch.hpp"

using namespace rill;
using namespace std::chrono_literals;

namespace test_core_environment {

TEST_CASE("environment: the real one has a clock that goes on, and takes the last") {
    auto& real = environment::real();
    const auto begin = real.now();
    CHECK(real.choose(1) == 0);
    CHECK(real.choose(5) == 4);
    CHECK(real.now() >= begin);
    CHECK(real.now_plus(1h) > begin);
    CHECK(real.now_plus(std::chrono::nanoseconds::max()) == environment::time_point::max());
    CHECK(&environment::real() == &real);
    CHECK(real.draw() != real.draw());
}

TEST_CASE("environment: tasks and timers of the real one run, and a signal wakes who waits for them") {
    auto& real = environment::real();
    std::mutex m;
    const auto changed = real.make_signal();
    std::vector<int> ran;
    const auto note = [&](int n) {
        const std::lock_guard lock(m);
        ran.push_back(n);
        changed->notify();
    };
    const auto late = real.at(real.now() + 20ms, [&] { note(2); });
    {
        const auto dropped = real.at(real.now() + 1ms, [&] { note(3); });
        auto moved = real.at(real.now() + 2ms, [&] { note(4); });
        moved = environment::timer();
    }
    real.post([&] { note(1); });
    std::unique_lock lock(m);
    while (ran.size() < 2) changed->wait(lock, real.now_plus(10s));
    CHECK(ran == std::vector{1, 2});
    changed->wait(lock, real.now()); // comes back though nobody notifies
    CHECK(lock.owns_lock());
}

} // namespace test_core_environment
