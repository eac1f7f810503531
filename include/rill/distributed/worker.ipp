// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/distributed/worker.hpp>

#include <algorithm>
#include <new>
#include <set>
#include <utility>

#include <rill/distributed/run_by_names.hpp>
#include <rill/distributed/server_files.hpp>
#include <rill/graph/serialization/saved_graph.hpp>
#include <rill/graph/serialization/serialization.hpp> // defines bytes_of and saved_graph_of
#include <rill/ops/exchange/exchange_ops.hpp>
#include <rill/passes/place.hpp>
#include <rill/resources/resource_store.hpp>
#include <rill/runtime/dynamic_runtime.hpp>
#include <rill/runtime/executor/step_run.hpp>
#include <rill/runtime/plan/compile_graph.hpp>
#include <rill/runtime/plan/plan.hpp>
#include <rill/runtime/plan_key.hpp>
#include <rill/session/feed.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

/// A part of a run: its graph and its plan.
struct worker::registered_part {
    graph of;
    plan_key key;
    std::unique_ptr<plan> run;
    std::shared_ptr<resource_store> resources;
    std::uint32_t edges = 0;
    std::map<std::uint32_t, wire_rendezvous::target> sends;
    std::map<std::uint32_t, std::string> receives;
    bool is_stale = false; // another session has replaced the state since

    ~registered_part() {
        run = nullptr;
        if (resources) resources->forget(of.state());
    }
};

/// A value of a step that has not begun.
struct worker::early_value {
    std::string caller;
    std::uint32_t edge;
    std::uint64_t sequence;
    any_array value;
    answer_function reply;
    cancellation::registration given_up; // cancelled by its sender before the step began, which then never begins
};

/// A step of a part: begun, or known only by early values.
struct worker::running_step {
    std::shared_ptr<registered_part> part;
    std::shared_ptr<wire_rendezvous> exchange; // null: not begun
    std::shared_ptr<cancellation> token = std::make_shared<cancellation>();
    environment::time_point began{};
    std::exception_ptr problem; // of another task; it ends the step
    std::exception_ptr unsent;  // why a value of the step was not sent; it fails the step even if nothing else does
    early_values early;         // empty once it has begun
    std::vector<answer_function> awaited; // answered at the end of the step
    std::set<std::uint64_t> over;         // its number, for session_state::over: the end of a step must not fail
};

struct worker::session_state {
    session_state(allocator& memory, const std::shared_ptr<container_set>& containers, int replica)
        : resources(detail::make_shared<resource_store>(
              memory, step_threads{{std::shared_ptr<thread_pool>(), &default_thread_pool()}, true, 1}, containers,
              replica)) {}

    const std::shared_ptr<resource_store> resources;
    std::mutex mutex;
    std::map<std::uint64_t, std::shared_ptr<registered_part>> parts; // by run
    std::map<std::uint64_t, std::shared_ptr<running_step>> steps;
    std::uint64_t over_below = 0;
    std::set<std::uint64_t> over; // steps that have ended, from over_below on
    task_identity master;
    environment::time_point used{}; // the latest time

    bool is_over(std::uint64_t step) const { return step < over_below || over.contains(step); }
};

RILL_COLD worker::worker(std::shared_ptr<peer_channels> peers, allocator& memory,
                         std::shared_ptr<const file_access> files)
    : peers_(std::move(peers)), memory_(memory), files_(std::move(files)),
      containers_(std::make_shared<container_set>(memory, static_cast<std::uint32_t>(peers_->self().incarnation))) {
    register_exchange_ops(); // its parts contain them, even if no master of this process has partitioned a run
}

RILL_COLD worker::~worker() { close(); }

/// Returns as many of a session's devices as this task has. A node that requests one of the others is refused by name.
inline device_counts counts_here(const wire_counts& asked) {
    device_counts made;
    for (const auto& [type, count] : counts_of(asked))
        if (const auto* here = find_device(type))
            made.emplace_back(type, here->spaces.empty() ? count : std::min(count, static_cast<int>(here->spaces.size())));
    return made;
}

/// Returns the placement of a part in this task. Variables lie where the master has placed them, though their memory may be full by now.
inline std::shared_ptr<placement> placement_of(const graph& part, const session_options& options) {
    auto where = make_placement(options);
    for (const auto* n : part.nodes()) {
        if (n->op->role() != op_role::variable) continue;
        const auto name = parse_device(n->device);
        const bool is_full = name.index >= 0; // a node that runs beside primitives may name less
        if (const auto* there = is_full ? where->devices().find(name) : nullptr) where->choose(*n, *there);
    }
    return where;
}

RILL_COLD void worker::register_run(const session_number& session, const register_meta& meta,
                                    std::string_view graph_bytes, const task_identity& master) {
    auto saved = saved_graph_of(graph_bytes);
    for (auto& n : saved.nodes) { // of this task, which knows only its own devices
        const auto d = parse_device(n.device);
        n.device = to_string(device_name{"", -1, -1, d.type, d.index});
    }
    auto made = std::make_shared<registered_part>();
    made->of = load_graph(saved);
    const auto in = find_or_make(session, meta.replica, master);
    made->resources = in->resources;
    made->edges = meta.edges;
    made->sends = wire_rendezvous::targets_of(meta.sends);
    for (const auto& r : meta.receives) made->receives[r.edge] = r.peer;
    made->key = plan_key_of(meta.names, made->of);
    session_options options;
    options.progress_timeout = std::chrono::nanoseconds(meta.progress_timeout);
    options.memory = &memory_;
    options.environment = &peers_->runs_in();
    options.device_count = counts_here(meta.device_count);
    options.allow_soft_placement = meta.allow_soft_placement;
    options.raise_primitives = meta.raise_primitives;
    made->run = std::make_unique<plan>(made->key, options, in->resources, placement_of(made->of, options));
    const std::lock_guard lock(in->mutex);
    in->parts[meta.run].swap(made); // an earlier part is destroyed after the lock is released
}

/// Returns the milliseconds since a time, as text.
inline std::string ms_since(environment::time_point then, environment::time_point now) {
    return std::to_string(std::chrono::duration_cast<std::chrono::milliseconds>(now - then).count()) + " ms";
}

RILL_COLD std::exception_ptr worker::explained(const std::exception_ptr& problem,
                                               const wire_rendezvous& exchange) const {
    if (!problem) return problem;
    const auto [code, text] = described(problem);
    if (code != error_code::deadline_exceeded) return problem;
    const auto awaited = exchange.awaited();
    const auto& self = peers_->self();
    return made_error(static_cast<std::uint32_t>(code),
                      text + "; " + self.name + " (incarnation " + std::to_string(self.incarnation) + ") " +
                          (awaited.empty() ? "waits for no other task" : "waits for " + awaited) +
                          ", last progress " + ms_since(exchange.moved(), peers_->runs_in().now()) + " ago");
}

/// Throws invalid_argument unless feeds match a key in number and type.
inline void check_feeds(const plan_key& key, std::span<const any_array> feeds) {
    if (feeds.size() != key.feeds.size())
        throw invalid_argument("a part takes " + std::to_string(key.feeds.size()) + " feeds, and is given " +
                               std::to_string(feeds.size()));
    for (std::size_t i = 0; i < feeds.size(); ++i) check_feed(key.feeds[i], feeds[i].type());
}

RILL_COLD std::shared_ptr<worker::running_step> worker::begin_step(session_state& in, const session_number& session,
                                                                   const step_meta& meta,
                                                                   std::span<const any_array> feeds,
                                                                   early_values& early) {
    const std::lock_guard lock(in.mutex);
    if (meta.over_below > in.over_below) {
        in.over_below = meta.over_below;
        in.over.erase(in.over.begin(), in.over.lower_bound(meta.over_below));
    }
    const auto part = in.parts.find(meta.run);
    if (part == in.parts.end())
        throw aborted(peers_->self().name + " does not know run " + std::to_string(meta.run) + " of the session");
    if (part->second->is_stale)
        throw aborted(peers_->self().name + ": the variables were restored since the session prepared run " +
                      std::to_string(meta.run) + "; open another session");
    if (in.is_over(meta.step)) throw cancelled("the step has failed in another task");
    check_feeds(part->second->key, feeds);
    auto known = in.steps.find(meta.step);
    if (known == in.steps.end()) known = in.steps.emplace(meta.step, std::make_shared<running_step>()).first;
    const auto there = known->second;
    if (there->exchange)
        throw already_exists("step " + std::to_string(meta.step) + " of the session has begun in " +
                             peers_->self().name);
    there->over.insert(meta.step);
    there->part = part->second;
    there->began = peers_->runs_in().now();
    peers_->note_progress();
    there->exchange = std::make_shared<wire_rendezvous>(
        wire_rendezvous::place{session, meta.run, meta.step}, there->part->edges, there->part->sends,
        meta.incarnations, there->part->receives, peers_,
        [weak = weak_from_this(), session, number = meta.step](const auto& why) {
            if (const auto self = weak.lock()) self->fail_to_send(session, number, why);
        });
    early.swap(there->early);
    return there;
}

RILL_COLD void worker::run_part(const session_number& session, const step_meta& meta, std::vector<any_array> feeds,
                                std::chrono::steady_clock::time_point deadline, step_trace* trace, completion done) {
    const auto in = find(session);
    if (!in) return done(unknown_session(), {});
    if (const auto why = fence_problem(session)) return done(why, {});
    std::shared_ptr<running_step> step;
    early_values early;
    std::exception_ptr problem;
    try {
        step = begin_step(*in, session, meta, feeds, early);
    } catch (...) {
        problem = current_error();
    }
    if (problem) {
        if (code_of(problem) == error_code::resource_exhausted) try { // values that have come early are not awaited
                abort_step(session, meta.step, problem);
            } catch (...) {}
        return done(problem, {});
    }
    for (auto& e : early) {
        std::exception_ptr refused;
        try {
            step->exchange->deliver(e.edge, e.sequence, std::move(e.value));
        } catch (...) {
            refused = current_error();
        }
        e.reply(refused, {});
    }
    step_context context{.session = &in->resources->session(),
                         .token = step->token.get(),
                         .deadline = deadline,
                         .environment = &peers_->runs_in(),
                         .incarnation = in->resources->incarnation()};
    context.exchange = step->exchange.get();
    context.files = files_ ? files_.get() : &no_files();
    const auto ended = [self = shared_from_this(), in, step, number = meta.step,
                        done = std::move(done)](std::exception_ptr why, std::vector<any_array> values) {
        self->end_step(*in, number); // first: fail_to_send then tells the master
        std::exception_ptr elsewhere, unsent;
        {
            const std::lock_guard lock(in->mutex);
            elsewhere = step->problem;
            unsent = step->unsent;
        }
        // a step that was aborted from outside reports that reason; its own error has priority
        if (!why)
            why = unsent;
        else if (elsewhere && code_of(why) == error_code::cancelled)
            why = elsewhere;
        else
            try {
                why = self->explained(why, *step->exchange);
            } catch (...) { // out of memory: the error stays as it is
            }
        done(why, std::move(values));
    };
    try {
        step_run::start(std::shared_ptr<plan>(step->part, step->part->run.get()), std::move(feeds),
                        {.context = context, .trace = trace, .done = ended});
    } catch (...) { // it has not begun
        ended(current_error(), {});
    }
}

RILL_COLD void worker::end_step(session_state& in, std::uint64_t number) {
    peers_->note_progress();
    std::shared_ptr<running_step> gone; // destroyed after the lock is released
    std::vector<answer_function> awaited;
    {
        const std::lock_guard lock(in.mutex);
        const auto at = in.steps.find(number);
        if (at == in.steps.end()) return;
        gone = std::move(at->second);
        if (number >= in.over_below) in.over.merge(gone->over);
        awaited.swap(gone->awaited);
        in.steps.erase(at);
    }
    for (const auto& ended : awaited) ended(nullptr, {});
}

RILL_COLD void worker::abort_step(const session_number& session, std::uint64_t number,
                                  const std::exception_ptr& problem) {
    const auto in = find(session);
    if (!in) return;
    std::shared_ptr<running_step> step; // null: not begun
    early_values early;
    {
        const std::lock_guard lock(in->mutex);
        const auto at = in->steps.find(number);
        if (at == in->steps.end() || !at->second->exchange) { // the step will never begin
            if (number >= in->over_below) in->over.insert(number);
            if (at != in->steps.end()) {
                early.swap(at->second->early);
                in->steps.erase(at);
            }
        } else {
            step = at->second;
            if (!step->problem) step->problem = problem;
        }
    }
    for (const auto& e : early) e.reply(nullptr, {});
    if (!step) return;
    step->exchange->abort(problem); // wakes waits for other tasks
    step->token->cancel();          // and all other waits
}

RILL_COLD void worker::drop_run(const session_number& session, std::uint64_t run) {
    const auto in = find(session);
    if (!in) return;
    std::shared_ptr<registered_part> gone; // destroyed after the lock is released
    const std::lock_guard lock(in->mutex);
    const auto at = in->parts.find(run);
    if (at == in->parts.end()) return;
    gone = std::move(at->second);
    in->parts.erase(at);
}

}}} // namespace rill::RILL_ABI::detail
