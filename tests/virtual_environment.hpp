// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <rill/core/environment.hpp>

#include "seeds.hpp"

/// An environment in one thread and in virtual time. Which task runs next, how long it takes, and what is drawn comes from a seed; the log
/// tells what happened, so that two runs of a seed can be compared. Only who blocks, or calls run(), runs tasks: they never nest unless a
/// task itself blocks.
class virtual_environment final : public rill::environment {
public:
    explicit virtual_environment(std::uint64_t seed) : draws_(seed) {}
    ~virtual_environment() override {
        while (!tasks_.empty() || !timers_.empty()) { // a destroyed task may post others
            auto tasks = std::exchange(tasks_, {});
            auto timers = std::exchange(timers_, {});
        }
    }

    time_point now() override { return now_; }
    std::size_t choose(std::size_t n) override { return draws_(n); }
    std::uint64_t draw() override { return draws_(std::size_t(1) << 62); }
    void post(task f) override { tasks_.push_back(std::move(f)); }
    timer at(time_point when, task f) override {
        const auto number = ++last_;
        timers_.emplace(std::pair(when, number), std::move(f));
        return timer([this, key = std::pair(when, number)] { timers_.erase(key); });
    }
    std::unique_ptr<signal> make_signal() override;

    /// Runs a task, or the timer that is due first. Returns false if there is none. Now and then time jumps to that timer although tasks
    /// are ready, as if all threads were busy so long.
    bool run_one() {
        const bool is_idle = tasks_.empty();
        if (is_idle && timers_.empty()) return false;
        const auto next = timers_.empty() ? time_point::max() : std::max(now_, timers_.begin()->first.first);
        const bool is_busy = !is_idle && next - now_ <= longest_busy && draws_(8) == 0;
        if (is_busy) busy_ += next - now_;
        if (is_idle || is_busy) {
            now_ = next;
        } else {
            std::swap(tasks_[draws_(tasks_.size())], tasks_.back());
            const auto chosen = std::move(tasks_.back());
            tasks_.pop_back();
            const std::chrono::microseconds takes(draws_(1000));
            now_ += takes;
            worked_ += takes;
            ++ran_;
            chosen();
        }
        while (!timers_.empty() && timers_.begin()->first.first <= now_) {
            const auto due = std::move(timers_.begin()->second);
            timers_.erase(timers_.begin());
            ++ran_;
            due();
        }
        return true;
    }
    void run() {
        while (run_one()) {}
    }
    /// Lets time pass, with all that is due.
    void sleep(std::chrono::nanoseconds d) {
        bool over = false;
        const auto wakes = at(now_ + d, [&] { over = true; });
        while (!over) run_one();
    }
    /// Runs what is due until `ended` returns true, or so much time has passed; returns what `ended` does. The time in which ready tasks
    /// had to wait does not count: what comes within so much work is certain to come here.
    template <class F> bool wait_for(const F& ended, std::chrono::nanoseconds most) {
        const auto until = now_ - busy_ + most;
        timer wakes;
        for (bool rings = true; !ended() && now_ - busy_ < until; run_one())
            if (std::exchange(rings, false)) wakes = at(until + busy_, [&] { rings = true; });
        return ended();
    }
    /// Lets so much time pass, counted as wait_for does.
    void settle(std::chrono::nanoseconds d) {
        wait_for([] { return false; }, d);
    }
    /// Returns the time in which ready tasks had to wait.
    std::chrono::nanoseconds busy() const { return busy_; }
    /// Returns the time that all tasks have taken, one after the other.
    std::chrono::nanoseconds worked() const { return worked_; }
    /// Returns the tasks and timers that have run.
    std::size_t ran() const { return ran_; }

    void note(const std::string& what) { log += std::to_string(now_.time_since_epoch().count()) + " " + what + "\n"; }
    std::string log;

private:
    class virtual_signal;
    /// The longest wait of ready tasks for one timer. Without a limit they would wait for timers that guard against what never happens.
    static constexpr std::chrono::seconds longest_busy{10};

    seeds::draws draws_;
    time_point now_{};
    std::chrono::nanoseconds busy_{}, worked_{};
    std::vector<task> tasks_;
    std::map<std::pair<time_point, std::uint64_t>, task> timers_;
    std::uint64_t last_ = 0;
    std::size_t ran_ = 0;
};

class virtual_environment::virtual_signal final : public signal {
public:
    explicit virtual_signal(virtual_environment& all) : all_(all) {}
    void wait(std::unique_lock<std::mutex>& lock, time_point until) override {
        lock.unlock();
        const bool ran = all_.run_one();
        if (!ran && until != time_point::max()) all_.now_ = std::max(all_.now_, until);
        lock.lock();
        if (!ran && until == time_point::max()) throw std::logic_error("nothing is left that could end this wait");
    }
    void notify() noexcept override {}

private:
    virtual_environment& all_;
};

inline std::unique_ptr<rill::environment::signal> virtual_environment::make_signal() {
    return std::make_unique<virtual_signal>(*this);
}
