// SPDX-License-Identifier: BSD-3-Clause
#include <rill/core/executor.hpp>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <new>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <rill/core/error.hpp>
#include <rill/core/log.hpp>

#include "catch.hpp"

using namespace rill;
using namespace std::chrono_literals;

namespace test_core_executor {

/// Counts down to zero, which one thread waits for.
class countdown {
public:
    explicit countdown(int n) : left_(n) {}
    void one() {
        const std::lock_guard lock(mutex_);
        if (--left_ == 0) zero_.notify_all();
    }
    void wait() {
        std::unique_lock lock(mutex_);
        zero_.wait(lock, [&] { return left_ <= 0; });
    }

private:
    std::mutex mutex_;
    std::condition_variable zero_;
    int left_;
};

TEST_CASE("executor: every task runs once, on few threads, also those that tasks post") {
    std::atomic<int> ran{0};
    countdown all(1000 + 1000);
    detail::executor threads(3);
    CHECK(threads.threads() == 0); // none before the first task
    for (int i = 0; i < 1000; ++i)
        threads.post([&] {
            ++ran;
            threads.post([&] {
                ++ran;
                all.one();
            });
            all.one();
        });
    all.wait();
    CHECK(ran == 2000);
    CHECK(threads.threads() <= 3);
}

TEST_CASE("executor: timers run in the order of their times, and not when withdrawn") {
    std::vector<int> order;
    countdown all(3);
    detail::executor threads(1); // declared last: it ends first
    const auto now = std::chrono::steady_clock::now();
    const auto add = [&](int n) {
        return [&, n] {
            order.push_back(n);
            all.one();
        };
    };
    threads.post_at(now + 30ms, add(3));
    threads.post_at(now + 10ms, add(1));
    const auto gone = threads.post_at(now + 15ms, add(4));
    threads.post_at(now + 20ms, add(2));
    threads.withdraw(gone);
    threads.withdraw(gone); // nothing to do
    all.wait();
    CHECK(order == std::vector{1, 2, 3});
}

TEST_CASE("executor: tasks that block make room for those that they wait for") {
    countdown inner(1), outer(1);
    detail::executor threads(1);
    threads.post([&] {
        threads.post([&] { inner.one(); });
        const detail::executor::blocked_thread here;
        inner.wait();
        outer.one();
    });
    outer.wait();
    CHECK(threads.threads() == 2);
    { const detail::executor::blocked_thread elsewhere; } // on a thread of no executor it changes nothing
}

TEST_CASE("executor: a task that throws ends alone, and says so in the log") {
    std::vector<std::string> lines;
    std::mutex mutex;
    set_log_sink([&](log_level level, std::string_view text) {
        const std::lock_guard lock(mutex);
        if (level == log_level::error) lines.emplace_back(text);
    });
    {
        countdown all(2);
        detail::executor threads(1);
        threads.post([] { throw std::bad_alloc(); });
        threads.post([&] { all.one(); });
        threads.post_at(std::chrono::steady_clock::now(), [] { throw unavailable("the peer"); });
        threads.post_at(std::chrono::steady_clock::now() + 1ms, [&] { all.one(); });
        all.wait();
        CHECK(threads.threads() == 1);
    }
    set_log_sink({});
    CHECK(lines == std::vector<std::string>(2, "a task of the environment has thrown an exception"));
}

TEST_CASE("executor: what has not begun is dropped at the end") {
    const auto kept = std::make_shared<int>(0);
    {
        detail::executor threads(1);
        threads.post_at(std::chrono::steady_clock::now() + 1h, [kept] { ++*kept; });
    }
    CHECK(kept.use_count() == 1);
    CHECK(*kept == 0);
}

} // namespace test_core_executor
