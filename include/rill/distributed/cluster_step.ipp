// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/distributed/cluster_step.hpp>

#include <algorithm>
#include <numeric>
#include <utility>

#include <rill/core/algorithm.hpp>
#include <rill/distributed/cluster_session.hpp>
#include <rill/distributed/tensor_frame.hpp>
#include <rill/distributed/wire_message.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

RILL_COLD cluster_step::cluster_step(std::shared_ptr<cluster_session> session, std::shared_ptr<const cluster_run> run,
                                     std::uint64_t number, completion done)
    : session_(std::move(session)), run_(std::move(run)), number_(number), done_(std::move(done)),
      has_ended_(run_->parts.size()), left_(run_->parts.size()), values_(run_->fetches) {}

RILL_COLD void cluster_step::start(const std::vector<any_array>& feeds, const run_options& how,
                                   std::uint64_t over_below) {
    auto& env = session_->runs_in();
    const auto deadline = how.timeout == forever ? environment::time_point::max() : env.now_plus(how.timeout);
    const auto began = env.now();
    trace_ = how.trace;
    traces_.resize(run_->parts.size());
    if (how.cancel) {
        auto cancels = how.cancel->on_cancel([weak = weak_from_this()] {
            if (const auto self = weak.lock())
                self->fail(error_made_by([] { return cancelled("the run was cancelled by its token"); }));
        });
        const std::lock_guard lock(mutex_);
        cancels_ = std::move(cancels);
    }
    if (run_->parts.empty()) return tell();
    std::vector<std::size_t> parts;
    for (std::size_t k = 0; k < run_->parts.size(); ++k)
        if (run_->parts[k].to) parts.push_back(k);
    for (std::size_t k = 0; k < run_->parts.size(); ++k)
        if (!run_->parts[k].to) parts.push_back(k); // last, since the others take longer to begin
    for (const auto k : parts) try {
            std::vector<any_array> fed;
            for (const int f : run_->parts[k].feeds) fed.push_back(feeds[static_cast<std::size_t>(f)]);
            if (run_->parts[k].to)
                start_there(k, fed, over_below, deadline, began);
            else
                start_here(k, std::move(fed), over_below, deadline, began);
        } catch (...) {
            part_ended(k, current_error(), {});
        }
}

/// The extra wait for a task's own error, which says more than that it was late. The client waits a little longer for the master's
/// error.
inline constexpr std::chrono::milliseconds grace_for_tasks{50};

/// Returns the description of a part's step for its task, without fed values.
RILL_COLD step_meta cluster_step::meta_of_part(std::size_t k, std::uint64_t over_below) const {
    step_meta m{run_->number, number_, over_below};
    for (const auto& [task, to] : run_->parts[k].sends_to) m.incarnations.push_back(run_->parts[to].incarnation);
    return m;
}

/// Starts the part of another task.
RILL_COLD void cluster_step::start_there(std::size_t k, const std::vector<any_array>& fed, std::uint64_t over_below,
                                         environment::time_point deadline, environment::time_point began) {
    const auto& p = run_->parts[k];
    wire_request r{.method = wire_method::run_part,
                   .session = session_->number_,
                   .incarnation = p.incarnation,
                   .deadline = deadline,
                   .grace = grace_for_tasks};
    auto meta = meta_of_part(k, over_below);
    meta.is_traced = trace_ != nullptr;
    meta.values = encode_tensors(fed, r.payload);
    r.meta = bytes_of_meta(std::move(meta));
    const auto sent = session_->runs_in().now();
    p.to->call(std::move(r), [self = shared_from_this(), k, sent, began,
                              is_traced = trace_ != nullptr](std::exception_ptr problem, const wire_answer& a) {
        std::vector<any_array> values;
        if (!problem) try {
                const auto fetched = meta_of<values_meta>(a.meta);
                values = decode_tensors(fetched.values, a.payload);
                if (values.size() != self->run_->parts[k].fetches.size())
                    throw data_loss("a task has answered with another number of values");
                if (is_traced && !a.payload.empty()) { // the time outside of the run is split between both directions
                    const std::chrono::nanoseconds round_trip = self->session_->runs_in().now() - sent;
                    auto& t = self->traces_[k];
                    t.all.entries = meta_of<trace_meta>(a.payload[0].bytes()).entries;
                    t.begin = std::chrono::nanoseconds(sent - began).count() +
                              std::max<std::int64_t>(round_trip.count() - fetched.lasted, 0) / 2;
                }
            } catch (...) {
                problem = current_error();
            }
        self->part_ended(k, problem, std::move(values));
    });
}

/// Starts the part of the master's own task.
RILL_COLD void cluster_step::start_here(std::size_t k, std::vector<any_array> fed, std::uint64_t over_below,
                                        environment::time_point deadline, environment::time_point began) {
    traces_[k].begin = std::chrono::nanoseconds(session_->runs_in().now() - began).count();
    session_->own_->run_part(
        session_->number_, meta_of_part(k, over_below), std::move(fed), deadline,
        trace_ ? &traces_[k].all : nullptr,
        [self = shared_from_this(), k](const std::exception_ptr& problem, std::vector<any_array> values) {
            self->part_ended(k, problem, std::move(values));
        });
}

/// Returns the position after the name of a task in a text; npos if the text does not contain the name.
inline std::size_t end_of_name(const std::string& text, const std::string& task) {
    for (auto at = text.find(task); at != std::string::npos; at = text.find(task, at + 1)) {
        const auto end = at + task.size(); // rejects "task:1" within "task:12"
        if (end == text.size() || text[end] < '0' || text[end] > '9') return end;
    }
    return std::string::npos;
}

/// Returns a part's error with the name of the task in which it arose. An error of tasks, not of the graph, also gets the incarnations
/// of all tasks that it names. If memory is out, it stays without names.
inline std::exception_ptr named(const std::exception_ptr& problem, const cluster_run& run, std::size_t part) noexcept try {
    auto [code, text] = described(problem);
    if (end_of_name(text, run.parts[part].task) == std::string::npos) text += " (in " + run.parts[part].task + ")";
    if (code == error_code::unavailable || code == error_code::aborted || code == error_code::deadline_exceeded)
        for (const auto& p : run.parts) {
            const auto end = end_of_name(text, p.task);
            if (end != std::string::npos && text.compare(end, 13, " (incarnation") != 0)
                text.insert(end, " (incarnation " + std::to_string(p.incarnation) + ")");
        }
    return made_error(static_cast<std::uint32_t>(code), text);
} catch (...) {
    return problem;
}

RILL_COLD void cluster_step::part_ended(std::size_t k, const std::exception_ptr& problem,
                                        std::vector<any_array> values) {
    if (problem) fail(named(problem, *run_, k), code_of(problem) == error_code::cancelled);
    std::exception_ptr unwatched;
    {
        const std::lock_guard lock(mutex_);
        if (std::exchange(has_ended_[k], char(1))) return;
        const auto& to = run_->parts[k].fetches;
        if (done_)
            for (std::size_t i = 0; i < values.size(); ++i)
                values_[static_cast<std::size_t>(to[i])] = std::move(values[i]);
        if (--left_ > 0) {
            if (problem || !run_->parts[k].to || !done_ || is_watching_) return;
            try {
                watch_ended_parts();
                is_watching_ = true;
                return;
            } catch (...) {
                unwatched = current_error();
            }
        }
    }
    if (unwatched)
        fail(unwatched); // the step could wait for a dead task without end
    else
        tell();
}

/// Asks the tasks whose parts have ended, after a while, whether they are still there. The lock is held.
RILL_COLD void cluster_step::watch_ended_parts() {
    auto& env = session_->runs_in();
    watch_ = env.at(env.now_plus(session_->peers_->health().dead), [weak = weak_from_this()] {
        if (const auto self = weak.lock()) self->ask_ended_parts();
    });
}

/// A task answers its part before its last values have arrived elsewhere. If it dies then, no call to it is open, and the parts that wait
/// for these values can't tell. So the master asks, and ends the step if a task is dead or has restarted.
RILL_COLD void cluster_step::ask_ended_parts() try {
    std::vector<std::size_t> ended;
    {
        const std::lock_guard lock(mutex_);
        if (!done_ || problem_) return;
        for (std::size_t k = 0; k < has_ended_.size(); ++k)
            if (has_ended_[k] && run_->parts[k].to) ended.push_back(k);
        watch_ended_parts();
    }
    for (const auto k : ended) {
        const auto& p = run_->parts[k];
        wire_request r{.method = wire_method::status, .incarnation = p.incarnation};
        const auto& times = session_->peers_->health();
        r.deadline = session_->runs_in().now_plus(times.first_control() + times.dead); // the channel finds it dead before
        p.to->call(std::move(r), [weak = weak_from_this(), k](const std::exception_ptr& problem, const wire_answer&) {
            const auto self = problem ? weak.lock() : nullptr;
            if (!self) return;
            const auto code = code_of(problem);
            if (code == error_code::unavailable || code == error_code::aborted)
                self->fail(named(problem, *self->run_, k));
        });
    }
} catch (...) {
    fail(current_error()); // the step could wait for a dead task without end
}

/// Returns the error of a step that was too late in two tasks. Each of them tells what it has waited for.
inline std::exception_ptr joined_delays(const std::exception_ptr& problem, const std::exception_ptr& other) {
    const auto [code, text] = described(problem);
    const auto more = described(other).second;
    constexpr std::size_t longest = std::size_t(16) << 10; // it crosses the wire
    if (code != error_code::deadline_exceeded || text.size() + more.size() > longest) return problem;
    return made_error(static_cast<std::uint32_t>(code), text + "; " + more);
}

RILL_COLD void cluster_step::fail(const std::exception_ptr& problem, bool is_derived) {
    const bool is_late = code_of(problem) == error_code::deadline_exceeded;
    bool has_grace = true;
    {
        const std::lock_guard lock(mutex_);
        if (!done_) return;
        if (problem_) {
            if (is_derived_ && !is_derived) {
                problem_ = problem, is_derived_ = false;
            } else if (is_late) {
                try {
                    problem_ = joined_delays(problem_, problem);
                } catch (...) { // out of memory: the first one stays
                }
            }
            return;
        }
        problem_ = problem;
        is_derived_ = is_derived;
        auto& env = session_->runs_in();
        try {
            grace_period_ = env.at(env.now_plus(std::chrono::milliseconds(100)), [weak = weak_from_this()] {
                if (const auto self = weak.lock()) self->end_grace();
            });
        } catch (...) {
            has_grace = false;
        }
    }
    // the other parts are about to be late, too, and say what they wait for: the task of a round knows who is missing
    if (!is_late) abort_others(problem);
    if (!has_grace) end_grace();
}

/// Ends the wait for the errors of other parts.
RILL_COLD void cluster_step::end_grace() {
    std::exception_ptr problem;
    {
        const std::lock_guard lock(mutex_);
        if (!done_) return;
        problem = problem_;
    }
    if (code_of(problem) == error_code::deadline_exceeded) abort_others(problem);
    tell();
}

/// Ends the parts that still run.
RILL_COLD void cluster_step::abort_others(const std::exception_ptr& problem) {
    for (std::size_t k = 0; k < run_->parts.size(); ++k) try {
            {
                const std::lock_guard lock(mutex_);
                if (has_ended_[k]) continue;
            }
            const auto& p = run_->parts[k];
            if (!p.to) {
                session_->own_->abort_step(session_->number_, number_, problem);
                continue;
            }
            const auto [code, text] = described(problem);
            wire_request r{.method = wire_method::abort_step,
                           .session = session_->number_,
                           .meta = bytes_of_meta(abort_meta{number_, static_cast<std::uint32_t>(code), text}),
                           .incarnation = p.incarnation};
            r.deadline = session_->runs_in().now_plus(session_->peers_->health().control);
            p.to->call(std::move(r), [](const std::exception_ptr&, const wire_answer&) {});
        } catch (...) { // it has stopped, or memory is out: the part ends with its session
        }
}

RILL_COLD void cluster_step::tell() {
    completion done;
    std::exception_ptr problem;
    std::vector<any_array> values;
    cancellation::registration cancels; // destroyed after the lock is released
    {
        const std::lock_guard lock(mutex_);
        done = std::exchange(done_, nullptr);
        problem = problem_;
        values.swap(values_);
        cancels = std::move(cancels_);
        grace_period_ = {};
        watch_ = {};
    }
    if (!done) return;
    if (trace_ && !problem) try {
            join_traces();
        } catch (...) {
            trace_->entries.clear();
            problem = current_error();
        }
    {
        const std::lock_guard lock(session_->mutex_);
        session_->steps_.erase(number_);
    }
    if (problem) values.clear();
    done(problem, std::move(values));
}

/// Merges the traces of all parts, in order of their begin.
RILL_COLD void cluster_step::join_traces() {
    auto& into = trace_->entries;
    into.clear();
    for (std::size_t k = 0; k < traces_.size(); ++k) {
        const auto first = static_cast<int>(into.size());
        for (auto& e : traces_[k].all.entries) {
            e.begin += traces_[k].begin;
            e.end += traces_[k].begin;
            if (e.inside >= 0) e.inside += first;
            e.task = run_->parts[k].task;
            into.push_back(std::move(e));
        }
    }
    std::vector<int> order(into.size()), place(into.size());
    std::iota(order.begin(), order.end(), 0);
    detail::sort(order, [&](int a, int b) {
        const auto first = into[static_cast<std::size_t>(a)].begin, second = into[static_cast<std::size_t>(b)].begin;
        return first < second || (first == second && a < b);
    });
    std::vector<step_trace::entry> sorted;
    for (std::size_t i = 0; i < order.size(); ++i) {
        place[static_cast<std::size_t>(order[i])] = static_cast<int>(i);
        sorted.push_back(std::move(into[static_cast<std::size_t>(order[i])]));
    }
    for (auto& e : sorted)
        if (e.inside >= 0)
            e.inside =
                static_cast<std::size_t>(e.inside) < place.size() ? place[static_cast<std::size_t>(e.inside)] : -1;
    into = std::move(sorted);
}

}}} // namespace rill::RILL_ABI::detail
