// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include <rill/core/environment.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

/// The gate of a session's background steps, those of queue runners. A save closes the gate, so that no such step begins. A step is active
/// while a thread runs it, or is about to; a step that waits for an op is not.
class step_gate : public std::enable_shared_from_this<step_gate> {
public:
    explicit step_gate(environment& env) : env_(env) {}

    /// Calls `begin`, which starts a step. Keeps it until the gate opens if the gate is closed.
    void start(std::function<void()> begin);
    /// Counts a step that a thread is about to run.
    void enter();
    /// Counts a step that has ended, or that waits.
    void leave();

    /// Closes the gate until open() has been called as often.
    void close();
    void open();
    /// Waits until no step is active. Returns the number of times that a step has become active. Throws deadline_exceeded at `until`.
    std::uint64_t wait_until_idle(environment::time_point until);
    /// Returns true if no step has been active since wait_until_idle returned `seen`.
    bool is_idle_since(std::uint64_t seen) const;

    environment& env() const { return env_; }

private:
    environment& env_;
    mutable std::mutex mutex_;
    int closed_ = 0, active_ = 0;
    std::uint64_t entered_ = 0;
    std::vector<std::function<void()>> held_;
    std::unique_ptr<environment::signal> left_; // made by the first thread that waits
};

/// A closed gate. The destructor opens it.
class closed_gate {
public:
    /// Closes the gate. `patience` limits all waits together.
    explicit closed_gate(step_gate& gate, std::chrono::nanoseconds patience = std::chrono::seconds(30))
        : gate_(gate), until_(gate.env().now_plus(patience)) {
        gate_.close();
    }
    closed_gate(const closed_gate&) = delete;
    ~closed_gate() { gate_.open(); }

    std::uint64_t wait_until_idle() { return gate_.wait_until_idle(until_); }
    bool is_idle_since(std::uint64_t seen) const { return gate_.is_idle_since(seen); }

private:
    step_gate& gate_;
    const environment::time_point until_;
};

}}} // namespace rill::RILL_ABI::detail

#if !RILL_COMPILED
#include <rill/runtime/step_gate.ipp>
#endif
