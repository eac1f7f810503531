// SPDX-License-Identifier: BSD-3-Clause
#include <rill/core/environment.hpp>

#include <algorithm>
#include <atomic>
#include <thread>
#include <vector>

#include <rill/core/platform.hpp>

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

TEST_CASE("environment: timers of the real one run while all its threads compute") {
    auto& real = environment::real();
    std::atomic<bool> over{false};
    std::atomic<int> computing{0}, rang{0};
    const int most = std::max(detail::usable_processors() - 1, 1);
    for (int i = 0; i < most; ++i)
        real.post([&] {
            for (++computing; !over;) {}
            --computing;
        });
    const auto until = real.now_plus(10s);
    while (computing < most && real.now() < until) std::this_thread::yield();
    CHECK(computing == most);
    const auto first = real.at(real.now(), [&] { ++rang; }), second = real.at(real.now_plus(5ms), [&] { ++rang; });
    while (rang < 2 && real.now() < until) std::this_thread::yield();
    CHECK(rang == 2);
    over = true;
    while (computing > 0) std::this_thread::yield();
}

} // namespace test_core_environment
