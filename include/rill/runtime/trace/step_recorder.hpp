// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <rill/core/environment.hpp>
#include <rill/device/kernel.hpp>
#include <rill/graph/op/region_attributes.hpp>
#include <rill/runtime/trace/trace.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

/// A recorder of a step's trace, used by all its threads.
class step_recorder {
public:
    step_recorder(step_trace& into, rill::environment& environment);
    step_recorder(const step_recorder&) = delete;
    /// Ends the entries that are still open, after a failure.
    ~step_recorder();

    /// The measurements known at the end of an entry.
    struct outcome {
        std::int64_t bytes = 0, iterations = -1;
        std::int64_t at = -1; // end time; -1: now
    };

    /// Returns the nanoseconds since the step began.
    std::int64_t now() const;
    /// Begins entries, now and on this thread. Returns the index of the first.
    int begin(std::vector<step_trace::entry> together);
    int begin(step_trace::entry e) { return begin(std::vector{std::move(e)}); }
    void end(int first, int count);
    void end(int entry, const outcome& o);

private:
    static constexpr std::int64_t open = -1;

    step_trace& into_;
    environment& environment_;
    const environment::time_point start_;
    std::mutex mutex_;
    std::vector<std::thread::id> threads_;
};

/// The place in a traced step where entries are added.
struct trace_scope {
    step_recorder& to;
    int inside = -1; // the entry of the node whose bodies run
    int stage = -1;
    std::int64_t iteration = -1;
    bool counts = false; // the scope numbers the runs of each body itself, from 0
    std::vector<std::pair<const void*, std::int64_t>> runs = {};

    std::int64_t iterations = -1; // iterations of the loop whose bodies run; set at its end

    /// Returns the scope for the bodies of a node, whose entry is `entry`.
    trace_scope within(int entry, const region_attributes& how) const;
    step_trace::entry entry_of(std::string node, std::string_view op) const;
    std::int64_t iteration_of(const void* body);
};

/// The recorder of a whole step, with a traced copy of its context.
struct traced_step {
    traced_step(step_trace& into, step_context& context) : to(into, context.env()) { context.trace = &all; }
    traced_step(const traced_step&) = delete;

    step_recorder to;
    trace_scope all{to};
};

/// Returns the size of the elements in bytes; for strings, without their characters.
std::int64_t bytes_of(std::span<const any_array> all);

inline void note_iterations(const step_context* context, std::int64_t n) {
    if (context && context->trace) context->trace->iterations = n;
}

/// A copy of a step's context with its own trace scope.
struct traced_context : step_context {
    traced_context(const step_context& like, trace_scope s) : step_context(like), scope(std::move(s)) {
        trace = &scope;
    }
    traced_context(const traced_context&) = delete;

    trace_scope scope;
};

}}} // namespace rill::RILL_ABI::detail

#if !RILL_COMPILED
#include <rill/runtime/trace/step_recorder.ipp>
#endif
