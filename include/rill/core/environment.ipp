// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/core/environment.hpp>

#include <algorithm>
#include <condition_variable>

#include <rill/core/executor.hpp>
#include <rill/core/platform.hpp>

namespace rill { inline namespace RILL_ABI {

namespace detail {

class real_signal final : public environment::signal {
public:
    void wait(std::unique_lock<std::mutex>& lock, environment::time_point until) override {
        const executor::blocked_thread here;
        if (until == environment::time_point::max())
            changed_.wait(lock);
        else
            changed_.wait_until(lock, until);
    }
    void notify() noexcept override { changed_.notify_all(); }

private:
    std::condition_variable changed_;
};

class real_environment final : public environment {
public:
    time_point now() override { return std::chrono::steady_clock::now(); }
    std::size_t choose(std::size_t n) override { return n - 1; }
    std::uint64_t draw() override { return random_bits(); }
    void post(task f) override { threads_.post(std::move(f)); }
    timer at(time_point when, task f) override {
        return timer([this, id = timers_.post_at(when, std::move(f))] { timers_.withdraw(id); });
    }
    std::unique_ptr<signal> make_signal() override { return std::make_unique<real_signal>(); }

private:
    executor threads_{std::max(usable_processors() - 1, 1)};
    executor timers_{1}; // of its own: tasks that compute must not stop deadlines and heartbeats
};

} // namespace detail

RILL_EXPORT RILL_COLD environment& environment::real() {
    static detail::real_environment& one =
        *new detail::real_environment; // leaked: steps may run while statics are destroyed
    return one;
}

}} // namespace rill::RILL_ABI
