// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <rill/core/environment.hpp>
#include <rill/session/session.hpp>
#include <rill/summary/event_writer.hpp>
#include <rill/train/saver.hpp>

namespace rill { inline namespace RILL_ABI {

/// The results of a step that a monitored session passes to its hooks.
class step_info {
public:
    step_info(const session& s, std::int64_t step, bool& stop) : session_(s), step_(step), stop_(stop) {}

    const rill::session& session() const noexcept { return session_; }
    /// Returns the value of the global step after the run; the number of runs if the graph has no global step.
    std::int64_t step() const noexcept { return step_; }
    /// Makes the session end after this step.
    void request_stop() const noexcept { stop_ = true; }

private:
    const rill::session& session_;
    std::int64_t step_;
    bool& stop_;
};

/// The base of the hooks that a monitored session calls around its steps. An error that a hook throws ends the session.
class session_hook {
public:
    virtual ~session_hook() = default;
    /// Runs before the session opens, with its graph as the current one: the hook may add nodes.
    virtual void begin() {}
    /// Runs when the session is open and initialised or restored, also after a recovery.
    virtual void after_create_session(const session& /*s*/) {}
    /// Returns tensors to fetch together with the next step.
    virtual std::vector<any_tensor> before_run(std::int64_t /*step*/) { return {}; }
    /// Runs after a step, with the values that before_run asked for.
    virtual void after_run(const step_info& /*info*/, const std::vector<any_array>& /*values*/) {}
    /// Runs when the session ends, unless an error ends it.
    virtual void end(const session& /*s*/) {}
};
using hook_ptr = std::shared_ptr<session_hook>;

/// The interval of an action: a number of steps, or a time.
struct every {
    std::int64_t steps = 0;                   // 0: no interval by steps
    std::chrono::nanoseconds time{0};         // 0: no interval by time
    rill::environment* environment = nullptr; // the clock; null: the real one
};

/// Stops when the global step is `last` or more.
hook_ptr stop_at_step(std::int64_t last);
/// Saves "<dir>/model-<step>-<id>" at intervals, on another thread, and once at the end. The error of a save is thrown after a later step.
hook_ptr checkpoint_saver_hook(const std::string& directory, const every& when, std::shared_ptr<saver> with = nullptr);
/// Writes a summary, such as merged_summaries(), at the first step and at intervals.
hook_ptr summary_saver_hook(std::shared_ptr<event_writer> log, const any_tensor& summary, const every& when);
/// Throws failed_precondition, or only stops if `fail` is false, after a step whose loss is NaN.
hook_ptr nan_guard(const any_tensor& loss, bool fail = true);
/// Logs steps per second. With a writer it also writes them as the scalar "global_step/sec".
hook_ptr step_counter_hook(const every& when, std::shared_ptr<event_writer> log = nullptr);
/// Logs numbers: logging_hook({{"loss", loss}}, {.steps = 100}). With `of_steps` it also draws a bar on the standard error stream.
hook_ptr logging_hook(std::vector<std::pair<std::string, any_tensor>> shown, const every& when,
                      std::int64_t of_steps = 0);

namespace detail {

/// The name before step and id in the checkpoints of checkpoint_saver_hook.
inline constexpr const char* checkpoint_base = "model";

} // namespace detail

}} // namespace rill::RILL_ABI

#if !RILL_COMPILED
#include <rill/train/session_hooks.ipp>
#endif
