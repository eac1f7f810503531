// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <rill/core/environment.hpp>
#include <rill/core/error.hpp>
#include <rill/runtime/options.hpp>

namespace rill { inline namespace RILL_ABI {

/// A thread that a coordinator started, or a sequence of asynchronous steps without a thread of its own. Unless it was joined, the
/// destructor asks the coordinator for a stop and waits for the end.
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
        std::chrono::seconds(120);    // how long threads may take to end after a stop request
    bool ignore_live_threads = false; // no error for threads that are still running by then
};

/// Stops threads together: the first thread that asks for a stop, or fails, ends the others. May be used from several threads.
class coordinator {
public:
    /// Creates a coordinator whose waits go through `environment`, which must outlive it.
    explicit coordinator(environment& environment = environment::real());

    bool should_stop() const noexcept;
    /// Asks for a stop, with or without an error. The first error is kept, and thrown by join. out_of_range, the end of the input, does
    /// not count as an error.
    void request_stop(std::exception_ptr problem = nullptr) const;
    template <std::derived_from<std::exception> E> void request_stop(const E& problem) const {
        request_stop(std::make_exception_ptr(problem));
    }
    /// Waits for a stop request. Returns true if it came within `timeout`.
    bool wait_for_stop(std::chrono::nanoseconds timeout = forever) const;
    /// Withdraws the stop request.
    void clear_stop() const;
    /// Returns the token that a stop request cancels, for the runs of the threads.
    cancellation_token token() const;

    /// Runs f in a thread of its own. An exception that f throws asks for a stop.
    coordinated_thread start(const std::string& name, std::function<void()> f) const;
    /// Returns an entry for work without a thread, such as a sequence of asynchronous steps. Also returns the function that ends the
    /// work. An error passed to this function asks for a stop.
    std::pair<coordinated_thread, std::function<void(std::exception_ptr)>> start(const std::string& name) const;

    /// Waits until a stop is asked for or all threads have ended. Then waits for the threads, as long as the options say. Throws the
    /// error that was kept, or deadline_exceeded with the names of threads that are still alive.
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
