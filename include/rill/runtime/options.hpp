// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <optional>

#include <rill/core/allocator.hpp>
#include <rill/core/environment.hpp>

namespace rill { inline namespace RILL_ABI {

/// GPU memory, for sessions with GPUs.
struct gpu_options {
    double memory_fraction = 0; // 0: as much as is needed
    bool allow_growth = false;
};

struct step_trace; // runtime/trace/trace.hpp

/// No limit of time.
inline constexpr std::chrono::nanoseconds forever = std::chrono::nanoseconds::max();

/// Ends the runs that it was given to: they throw `cancelled`. Copies are the same token.
class cancellation_token {
public:
    void cancel() const noexcept { *cancelled_ = true; }
    bool is_cancelled() const noexcept { return *cancelled_; }
    const std::atomic<bool>& flag() const noexcept { return *cancelled_; }

private:
    std::shared_ptr<std::atomic<bool>> cancelled_ = std::make_shared<std::atomic<bool>>(false);
};

/// What one run may be told: s.run(y, feed(x, v), {.timeout = 5s, .cancel = token}).
struct run_options {
    std::chrono::nanoseconds timeout =
        forever; // for all of it: loops look at every iteration, waiting ends; an op is not broken off
    std::optional<cancellation_token> cancel = {};
    step_trace* trace = nullptr; // what runs is written there, also of a run that fails
};

/// How a session runs. Thread counts: -1 automatic, 0 the caller's thread. Results are the same for every number.
struct session_options {
    int inter_op_threads = -1;         // branches of the graph that run at once, where that pays
    int intra_op_threads = -1;         // threads that share the work of one op, where that pays
    bool allow_soft_placement = false; // run on the CPU what its device can't run
    bool log_device_placement = false; // tell the log sink where each node runs
    gpu_options gpu = {};
    /// Branches and loops made of primitives (switch_, merge, enter, …) run as those of cond and while_loop do; false: node by node,
    /// as all others of them do. The values are the same.
    bool raise_primitives = true;
    /// How long a run waits for others (a queue, a host_call) while nothing of it happens, before it throws deadline_exceeded.
    std::chrono::nanoseconds progress_timeout = std::chrono::minutes(10);
    rill::environment* environment = nullptr; // clock and order of its runs; null: the real one
    allocator* memory = nullptr;              // where step memory and variables come from; null: default_allocator()
};

}} // namespace rill::RILL_ABI
