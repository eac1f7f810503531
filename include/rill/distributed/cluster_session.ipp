// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/distributed/cluster_session.hpp>

#include <algorithm>
#include <utility>

#include <rill/distributed/cluster_step.hpp>
#include <rill/distributed/joined_answers.hpp>
#include <rill/distributed/run_by_names.hpp>
#include <rill/graph/serialization/saved_graph.hpp>
#include <rill/graph/serialization/serialization.hpp> // defines bytes_of and saved_graph_of
#include <rill/ops/exchange/exchange_ops.hpp>
#include <rill/passes/functionalize/functionalized_graph.hpp>
#include <rill/runtime/dynamic_runtime.hpp>
#include <rill/runtime/plan/compile_graph.hpp>
#include <rill/runtime/plan/part_graph.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

/// Returns the name of the task of a device.
inline device_name task_of(const device& d) { return {d.full.job, d.full.replica, d.full.task, "", -1}; }

RILL_COLD std::vector<device_name> tasks_seen_by(const peer_channels& peers) {
    auto tasks = peers.cluster().all_tasks();
    const auto own =
        std::find_if(tasks.begin(), tasks.end(), [&](const auto& t) { return to_string(t) == peers.self().name; });
    std::rotate(tasks.begin(), own, own + 1);
    return tasks;
}

RILL_COLD cluster_session::cluster_session(const session_options& options, std::shared_ptr<peer_channels> peers,
                                           std::shared_ptr<worker> own)
    : options_(options), peers_(std::move(peers)), own_(std::move(own)),
      number_{peers_->runs_in().draw(), peers_->runs_in().draw()} {
    register_exchange_ops();
}

RILL_COLD cluster_session::~cluster_session() { close("the session is closed"); }

RILL_COLD bool cluster_session::closed() const {
    const std::lock_guard lock(mutex_);
    return !closed_why_.empty();
}

RILL_COLD void cluster_session::check_open() const {
    const std::lock_guard lock(mutex_);
    if (!closed_why_.empty()) throw cancelled(closed_why_);
}

RILL_COLD void cluster_session::check_incarnation(const std::string& task, std::uint64_t now) {
    const std::lock_guard lock(mutex_);
    const auto was = incarnations_.try_emplace(task, now).first->second;
    if (was != now)
        throw aborted(task + " has restarted since the session began: its incarnation was " + std::to_string(was) +
                      " and is " + std::to_string(now) + "; its state is lost, open another session");
}

/// Returns a placement for a run. Nodes of earlier runs keep their devices, by name, since their state is
/// there.
RILL_COLD std::shared_ptr<placement> cluster_session::place_as_before(const graph& g) {
    auto where = make_placement(options_, tasks_seen_by(*peers_), [this](const node& n, const device& there) {
        const bool is_new = [&] { // each run has a placement of its own, and the session one log
            const std::lock_guard lock(mutex_);
            return logged_.insert(n.name);
        }();
        if (is_new) log_placed(n, there);
    });
    const std::lock_guard lock(mutex_);
    for (const auto* n : g.nodes())
        if (const auto known = devices_.find(n->name); known != devices_.end())
            if (const auto* there = where->devices().find(parse_device(known->second))) where->choose(*n, *there);
    return where;
}

/// Notes the devices of the nodes of a run.
RILL_COLD void cluster_session::note_devices(const placed_parts& cut) {
    const std::lock_guard lock(mutex_);
    for (const auto& p : cut.parts)
        for (const auto& it : p.steps.items)
            if (it.origin && it.device) devices_.try_emplace(it.origin->name, to_string(it.device->full));
}

/// Places the nodes of the bodies of a node, so that the log has them: a body that is not cut is otherwise placed by its task alone.
inline void place_bodies(const node& n, placement& where) {
    if (!n.bodies) return;
    for (const auto& b : *n.bodies)
        for (const auto* inner : nodes_in(b, *n.owner)) {
            where.device_of(*inner);
            place_bodies(*inner, where);
        }
}

RILL_COLD cluster_session::cut_run cluster_session::cut(const graph& g, const plan_key& key) {
    cut_run made{place_as_before(g), {}};
    made.parts = compile_partition(
        key, g.state().may_be_dynamic() ? registered_dynamic_runtime.load() : nullptr, options_, *made.where,
        [&](const device& d) -> const device& { return *made.where->devices().find(task_of(d)); });
    note_devices(made.parts);
    if (options_.log_device_placement)
        for (const auto& p : made.parts.parts)
            for (const auto& it : p.steps.items)
                if (it.origin) place_bodies(*it.origin, *made.where);
    return made;
}

RILL_COLD std::map<std::string, std::uint64_t> cluster_session::tasks() const {
    const std::lock_guard lock(mutex_);
    return incarnations_;
}

RILL_COLD std::vector<session_device> cluster_session::devices() const {
    const auto where = make_placement(options_, tasks_seen_by(*peers_));
    std::vector<session_device> all;
    for (const auto* d : where->devices().all()) all.push_back({logged_name(d->full), d->type->name});
    return all;
}

RILL_COLD std::vector<part_graph> cluster_session::parts(const graph& g, const plan_key& key) {
    check_open();
    std::vector<part_graph> all;
    const auto made = cut(g, key);
    for (const auto& p : made.parts.parts) all.push_back(make_part_graph(p, g));
    return all;
}

RILL_COLD void cluster_session::prepare(const graph& g, const plan_key& key, prepared done,
                                        environment::time_point deadline) {
    check_open();
    const auto run = std::make_shared<cluster_run>();
    run->feeds = key.feeds.size();
    run->fetches = key.fetches.size();
    run->prepared_by = deadline;
    {
        const std::lock_guard lock(mutex_);
        run->number = ++last_run_;
    }
    const auto made = cut(g, key);
    run->parts.resize(made.parts.parts.size());
    const auto all = std::make_shared<joined_answers>(
        [self = shared_from_this(), run, done = std::move(done)](std::exception_ptr problem) {
            for (const auto& p : run->parts) try {
                    if (p.incarnation) self->check_incarnation(p.task, p.incarnation);
                } catch (...) {
                    if (!problem) problem = std::current_exception();
                }
            if (problem) self->drop(*run);
            done(problem, problem ? nullptr : run);
        });
    for (std::size_t k = 0; k < made.parts.parts.size(); ++k) {
        auto ended = all->next();
        try {
            register_part(run, k, made.parts, g, ended);
        } catch (...) {
            ended(std::current_exception(), {});
        }
    }
    all->close();
}

RILL_COLD void cluster_session::register_part(const std::shared_ptr<cluster_run>& run, std::size_t k,
                                              const placed_parts& cut, const graph& g, answer_function done) {
    const auto& part = cut.parts[k];
    const auto made = make_part_graph(part, g);
    auto& p = run->parts[k];
    p.task = to_string(task_of(*part.where));
    p.feeds = made.feed_numbers;
    p.fetches = made.fetch_numbers;
    register_meta meta;
    meta.run = run->number;
    meta.names = names_of(made.key());
    const auto task_at = [&](int end) { return to_string(task_of(*cut.parts[static_cast<std::size_t>(end)].where)); };
    for (const auto& e : cut.edges) {
        if (e.from == static_cast<int>(k)) {
            meta.sends.push_back({e.number, task_at(e.to)});
            p.sends_to[meta.sends.back().peer] = static_cast<std::size_t>(e.to);
        }
        if (e.to == static_cast<int>(k)) meta.receives.push_back({e.number, task_at(e.from)});
    }
    meta.edges = static_cast<std::uint32_t>(cut.edges.size());
    meta.replica = options_.replica;
    meta.progress_timeout = options_.progress_timeout.count();
    meta.device_count = {options_.device_count.begin(), options_.device_count.end()};
    meta.allow_soft_placement = options_.allow_soft_placement;
    meta.raise_primitives = options_.raise_primitives;
    auto bytes = bytes_of(save_graph(made.of));
    if (p.task == peers_->self().name) {
        p.incarnation = peers_->self().incarnation;
        own_->register_run(number_, meta, bytes, peers_->self());
        return done(nullptr, {});
    }
    p.to = peers_->to(p.task);
    wire_request r{.method = wire_method::register_run, .session = number_, .meta = bytes_of_meta(meta)};
    r.payload.emplace_back(std::move(bytes));
    r.deadline = std::min(run->prepared_by, runs_in().now_plus(peers_->health().first_control()));
    p.to->call(std::move(r), [run, k, done](const std::exception_ptr& problem, wire_answer a) {
        run->parts[k].incarnation = a.incarnation;
        done(problem, std::move(a));
    });
}

RILL_COLD void cluster_session::start(const std::shared_ptr<const cluster_run>& run, std::vector<any_array> feeds,
                                      const run_options& how, completion done) {
    if (feeds.size() != run->feeds)
        throw invalid_argument("run " + std::to_string(run->number) + " takes " + std::to_string(run->feeds) +
                               " feeds, and is given " + std::to_string(feeds.size()));
    std::shared_ptr<cluster_step> step;
    std::uint64_t over_below = 0;
    {
        const std::lock_guard lock(mutex_);
        if (!closed_why_.empty()) throw cancelled(closed_why_);
        step = std::make_shared<cluster_step>(shared_from_this(), run, ++last_step_, std::move(done));
        steps_[last_step_] = step;
        over_below = steps_.begin()->first;
    }
    try {
        step->start(feeds, how, over_below);
    } catch (...) { // no part has begun
        const std::lock_guard lock(mutex_);
        steps_.erase(step->number());
        throw;
    }
}

RILL_COLD void cluster_session::fail_step(std::uint64_t number, const std::exception_ptr& problem) {
    std::shared_ptr<cluster_step> step;
    {
        const std::lock_guard lock(mutex_);
        if (const auto at = steps_.find(number); at != steps_.end()) step = at->second.lock();
    }
    if (step) step->fail(problem);
}

RILL_COLD void cluster_session::drop(const cluster_run& run) noexcept {
    if (closed()) return; // the tasks have dropped the session
    for (const auto& p : run.parts) try {
            if (!p.incarnation && !p.to) continue; // not registered; a task that has not answered may still register its part
            if (!p.to) {
                own_->drop_run(number_, run.number);
                continue;
            }
            wire_request r{.method = wire_method::drop_run,
                           .session = number_,
                           .meta = bytes_of_meta(run_meta{run.number}),
                           .incarnation = p.incarnation};
            r.deadline = runs_in().now_plus(peers_->health().first_control());
            p.to->call(std::move(r), [](const std::exception_ptr&, const wire_answer&) {});
        } catch (...) { // the server has stopped: so have its channels
        }
}

RILL_COLD void cluster_session::close(std::string_view why) noexcept {
    std::map<std::string, std::uint64_t> tasks;
    {
        const std::lock_guard lock(mutex_);
        if (!closed_why_.empty()) return;
        closed_why_ = text_made_by([&] { return why; }, "closed");
        tasks.swap(incarnations_);
    }
    for (std::uint64_t last = 0;;) { // one by one: a list of them would need memory
        std::shared_ptr<cluster_step> step;
        {
            const std::lock_guard lock(mutex_);
            const auto at = steps_.upper_bound(last);
            if (at == steps_.end()) break;
            last = at->first;
            step = at->second.lock();
        }
        if (step) step->fail(error_made_by([&] { return cancelled(std::string(why)); }));
    }
    for (const auto& [task, incarnation] : tasks) try { // also a restarted task, if a part was registered there
            if (task == peers_->self().name) {
                own_->close_session(number_);
                continue;
            }
            wire_request r{.method = wire_method::close_session, .session = number_};
            r.deadline = runs_in().now_plus(std::chrono::seconds(1));
            peers_->to(task)->call(std::move(r), [](const std::exception_ptr&, const wire_answer&) {});
        } catch (...) { // the server has stopped: so have its channels
        }
}

}}} // namespace rill::RILL_ABI::detail
