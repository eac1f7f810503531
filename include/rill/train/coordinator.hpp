// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <rill/core/error.hpp>
#include <rill/runtime/options.hpp>

namespace rill { inline namespace RILL_ABI {

/// A thread that a coordinator started. When it goes without having been joined, its coordinator is asked to stop, and it is waited for.
class coordinated_thread {
public:
    coordinated_thread(coordinated_thread&&) noexcept;
    coordinated_thread& operator=(coordinated_thread&&) noexcept;
    ~coordinated_thread();
    const std::string& name() const;
    bool is_alive() const;

private:
    friend class coordinator;
    struct state;
    explicit coordinated_thread(std::unique_ptr<state> s);
    std::unique_ptr<state> state_;
};

struct join_options {
    std::chrono::nanoseconds grace =
        std::chrono::seconds(120);    // how long threads may take to end after a stop was asked for
    bool ignore_live_threads = false; // no error for those that are not done by then
};

/// Brings threads to an end together: the first that asks for a stop, or fails, ends the others. May be used from several threads.
class coordinator {
public:
    coordinator();

    bool should_stop() const noexcept;
    /// Asks for a stop, for an error or without. The first error is kept, and thrown by join; out_of_range, the end of what was to be
    /// read, is none.
    void request_stop(std::exception_ptr problem = nullptr) const;
    template <std::derived_from<std::exception> E> void request_stop(const E& problem) const {
        request_stop(std::make_exception_ptr(problem));
    }
    /// Whether a stop was asked for within that time.
    bool wait_for_stop(std::chrono::nanoseconds timeout = forever) const;
    /// As if nobody had asked for a stop.
    void clear_stop() const;
    /// Cancelled when a stop is asked for: for the runs of the threads.
    cancellation_token token() const;

    /// Runs f in a thread; what it throws asks for a stop.
    coordinated_thread start(const std::string& name, std::function<void()> f) const;

    /// Waits until a stop is asked for or all threads have ended, then, as long as the options say, for the threads; throws the error that
    /// was kept, or deadline_exceeded with the names of threads that are still alive.
    void join(std::vector<coordinated_thread>& threads, const join_options& options = {}) const;
    void join(std::vector<coordinated_thread>&& threads, const join_options& options = {}) const {
        join(threads, options);
    }

    struct state;

private:
    std::shared_ptr<state> state_;
};

}} // namespace rill::RILL_ABI

#if !RILL_COMPILED
#include <rill/train/coordinator.ipp>
#endif
