// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/train/coordinator.hpp>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <utility>

#include <rill/core/algorithm.hpp>
#include <rill/core/shared.hpp>

namespace rill { inline namespace RILL_ABI {

struct coordinator::state {
    std::mutex mutex;
    std::condition_variable changed; // a stop was asked for, or a thread has ended
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
    if (!state_ || !state_->thread.joinable()) return;
    if (*state_->alive) state_->of.request_stop();
    state_->thread.join();
}
RILL_COLD const std::string& coordinated_thread::name() const { return state_->name; }
RILL_COLD bool coordinated_thread::is_alive() const { return *state_->alive; }

RILL_COLD coordinator::coordinator() : state_(detail::make_shared<state>()) {}

RILL_COLD bool coordinator::should_stop() const noexcept { return state_->stop; }

/// Whether an error says no more than that there is nothing left to read.
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
    {
        const std::lock_guard lock(state_->mutex);
        if (keeps && !state_->problem && !state_->stop) state_->problem = std::move(problem);
        state_->stop = true;
        state_->token.cancel();
    }
    state_->changed.notify_all();
}

RILL_COLD bool coordinator::wait_for_stop(std::chrono::nanoseconds timeout) const {
    std::unique_lock lock(state_->mutex);
    const auto stopped = [&] { return state_->stop.load(); };
    if (timeout == forever)
        state_->changed.wait(lock, stopped);
    else
        state_->changed.wait_for(lock, timeout, stopped);
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
        {
            const std::lock_guard lock(all.state_->mutex);
            *alive = false;
        }
        all.state_->changed.notify_all();
    });
    return coordinated_thread(std::move(made));
}

RILL_COLD void coordinator::join(std::vector<coordinated_thread>& threads, const join_options& options) const {
    const auto ended = [&] { return detail::none_of(threads, [](const auto& t) { return t.is_alive(); }); };
    std::string live;
    {
        std::unique_lock lock(state_->mutex);
        state_->changed.wait(lock, [&] { return state_->stop || ended(); });
        if (options.grace == forever)
            state_->changed.wait(lock, ended);
        else
            state_->changed.wait_for(lock, options.grace, ended);
    }
    for (auto& t : threads)
        if (!t.is_alive())
            t.state_->thread.join();
        else
            live += (live.empty() ? "'" : ", '") + t.name() + "'";
    std::erase_if(threads, [](const auto& t) { return !t.state_->thread.joinable(); });
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
