// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/train/coordinator.hpp>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <thread>
#include <utility>

#include <rill/core/algorithm.hpp>
#include <rill/core/shared.hpp>

namespace rill { inline namespace RILL_ABI {

struct coordinator::state {
    explicit state(environment& e) : env(e), changed(e.make_signal()) {}

    /// Waits until `holds` returns true, or until a time. The caller holds the lock.
    template <class F> void wait(std::unique_lock<std::mutex>& lock, environment::time_point until, const F& holds) {
        while (!holds() && env.now() < until) changed->wait(lock, until);
    }
    /// Notes the end of a thread.
    void end(std::atomic<bool>& alive) {
        const std::lock_guard lock(mutex);
        alive = false;
        changed->notify();
    }

    environment& env;
    std::mutex mutex;
    const std::unique_ptr<environment::signal> changed; // a stop was asked for, or a thread has ended
    std::atomic<bool> stop{false};
    std::exception_ptr problem;
    cancellation_token token;
};

struct coordinated_thread::state {
    std::string name;
    coordinator of;
    std::shared_ptr<coordinator::state> common;
    std::shared_ptr<std::atomic<bool>> alive = std::make_shared<std::atomic<bool>>(true);
    std::thread thread = {};
};

RILL_COLD coordinated_thread::coordinated_thread(std::unique_ptr<state> s) : state_(std::move(s)) {}
RILL_COLD coordinated_thread::coordinated_thread(coordinated_thread&&) noexcept = default;
RILL_COLD coordinated_thread& coordinated_thread::operator=(coordinated_thread&& other) noexcept {
    std::swap(state_, other.state_);
    return *this;
}
RILL_COLD coordinated_thread::~coordinated_thread() {
    if (!state_) return;
    if (*state_->alive) state_->of.request_stop();
    auto& common = *state_->common;
    {
        std::unique_lock lock(common.mutex);
        common.wait(lock, environment::time_point::max(), [&] { return !*state_->alive; });
    }
    if (state_->thread.joinable()) state_->thread.join();
}
RILL_COLD const std::string& coordinated_thread::name() const { return state_->name; }
RILL_COLD bool coordinated_thread::is_alive() const { return *state_->alive; }

RILL_COLD coordinator::coordinator(environment& environment) : state_(detail::make_shared<state>(environment)) {}

RILL_COLD bool coordinator::should_stop() const noexcept { return state_->stop; }

/// Returns true if an error only reports the end of the input.
inline bool is_the_end(const std::exception_ptr& problem) {
    try {
        std::rethrow_exception(problem);
    } catch (const out_of_range&) {
        return true;
    } catch (...) {
        return false;
    }
}

RILL_COLD void coordinator::request_stop(std::exception_ptr problem) const {
    const bool keeps = problem && !is_the_end(problem);
    const auto cancelled = [&] {
        const std::lock_guard lock(state_->mutex);
        if (keeps && !state_->problem && !state_->stop) state_->problem = std::move(problem);
        state_->stop = true;
        state_->changed->notify();
        return state_->token;
    }();
    cancelled.cancel(); // without the lock: it calls those that wait
}

RILL_COLD bool coordinator::wait_for_stop(std::chrono::nanoseconds timeout) const {
    std::unique_lock lock(state_->mutex);
    state_->wait(lock, state_->env.now_plus(timeout), [&] { return state_->stop.load(); });
    return state_->stop;
}

RILL_COLD void coordinator::clear_stop() const {
    const std::lock_guard lock(state_->mutex);
    state_->stop = false;
    state_->problem = nullptr;
    state_->token = cancellation_token();
}

RILL_COLD cancellation_token coordinator::token() const {
    const std::lock_guard lock(state_->mutex);
    return state_->token;
}

RILL_COLD coordinated_thread coordinator::start(const std::string& name, std::function<void()> f) const {
    auto made = std::make_unique<coordinated_thread::state>(coordinated_thread::state{name, *this, state_});
    made->thread = std::thread([f = std::move(f), alive = made->alive, all = *this] {
        try {
            f();
        } catch (...) {
            all.request_stop(std::current_exception());
        }
        all.state_->end(*alive);
    });
    return coordinated_thread(std::move(made));
}

RILL_COLD std::pair<coordinated_thread, std::function<void(std::exception_ptr)>>
coordinator::start(const std::string& name) const {
    auto made = std::make_unique<coordinated_thread::state>(coordinated_thread::state{name, *this, state_});
    auto end = [alive = made->alive, all = *this](std::exception_ptr problem) {
        if (problem) all.request_stop(std::move(problem));
        all.state_->end(*alive);
    };
    return {coordinated_thread(std::move(made)), std::move(end)};
}

RILL_COLD void coordinator::join(std::vector<coordinated_thread>& threads, const join_options& options) const {
    const auto ended = [&] { return detail::none_of(threads, [](const auto& t) { return t.is_alive(); }); };
    std::string live;
    {
        std::unique_lock lock(state_->mutex);
        state_->wait(lock, environment::time_point::max(), [&] { return state_->stop || ended(); });
        state_->wait(lock, state_->env.now_plus(options.grace), ended);
    }
    std::erase_if(threads, [](const auto& t) { return !t.is_alive(); }); // their destructors join
    for (const auto& t : threads) live += (live.empty() ? "'" : ", '") + t.name() + "'";
    {
        const std::lock_guard lock(state_->mutex);
        if (state_->problem) std::rethrow_exception(state_->problem);
    }
    if (!live.empty() && !options.ignore_live_threads)
        throw deadline_exceeded(
            "coordinator: after " +
            std::to_string(std::chrono::duration_cast<std::chrono::seconds>(options.grace).count()) +
            " s these threads are still alive: " + live);
}

}} // namespace rill::RILL_ABI
