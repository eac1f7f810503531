// SPDX-License-Identifier: BSD-3-Clause
#include <rill/core/thread_pool.hpp>

#include <atomic>
#include <mutex>
#include <set>
#include <stdexcept>
#include <thread>
#include <vector>

#include "catch.hpp"

using namespace rill;

namespace test_core_thread_pool {

TEST_CASE("thread_pool: every part runs once, whatever the number of workers") {
    for (const int workers : {0, 1, 3}) {
        thread_pool pool(workers);
        CHECK(pool.threads() == workers + 1);
        for (const int parts : {0, 1, 2, 7, 1000}) {
            std::vector<std::atomic<int>> count(static_cast<std::size_t>(parts));
            pool.run(parts, [&](int i) { ++count[static_cast<std::size_t>(i)]; });
            for (const auto& c : count) CHECK(c == 1);
        }
    }
}

TEST_CASE("thread_pool: workers take part") {
    thread_pool pool(1);
    std::mutex mutex;
    std::set<std::thread::id> seen;
    std::atomic<int> inside{0};
    pool.run(2, [&](int) { // each part waits until both are running: one thread alone would never end
        ++inside;
        while (inside < 2) std::this_thread::yield();
        const std::lock_guard lock(mutex);
        seen.insert(std::this_thread::get_id());
    });
    CHECK(seen.size() == 2);
}

TEST_CASE("thread_pool: several callers at once, and calls from within a part") {
    thread_pool pool(2);
    std::atomic<int> sum{0};
    const auto caller = [&] {
        for (int round = 0; round < 200; ++round)
            pool.run(5, [&](int i) { pool.run(3, [&](int k) { sum += i * k; }); });
    };
    std::thread a(caller), b(caller);
    caller();
    a.join();
    b.join();
    CHECK(sum == 3 * 200 * (0 + 1 + 2 + 3 + 4) * (0 + 1 + 2));
}

TEST_CASE("thread_pool: an exception reaches the caller, and the pool goes on") {
    thread_pool pool(2);
    for (int round = 0; round < 50; ++round) {
        CHECK_THROWS_AS(pool.run(8,
                                 [](int i) {
                                     if (i % 3 == 1) throw std::runtime_error("part");
                                 }),
                        std::runtime_error);
        std::atomic<int> count{0};
        pool.run(8, [&](int) { ++count; });
        CHECK(count == 8);
    }
}

TEST_CASE("thread_pool: one for all") {
    CHECK(&default_thread_pool() == &default_thread_pool());
    CHECK(default_thread_pool().threads() >= 1);
}

} // namespace test_core_thread_pool
