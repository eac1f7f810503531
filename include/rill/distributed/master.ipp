// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/distributed/master.hpp>

#include <algorithm>
#include <utility>

#include <rill/distributed/awaited_answers.hpp>
#include <rill/distributed/cluster_step.hpp>
#include <rill/graph/serialization/saved_graph.hpp>
#include <rill/graph/serialization/serialization.hpp> // defines bytes_of and saved_graph_of
#include <rill/ops/exchange/exchange_ops.hpp>
#include <rill/runtime/dynamic_runtime.hpp>
#include <rill/runtime/plan/compile_graph.hpp>
#include <rill/runtime/plan/part_graph.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

/// The name of the task of a device.
inline device_name task_of(const device& d) { return {d.full.job, d.full.replica, d.full.task, "", -1}; }

RILL_COLD cluster_session::cluster_session(const graph& g, const session_options& options,
                                           std::shared_ptr<peer_channels> peers, std::shared_ptr<worker> own)
    : graph_(g), options_(options), peers_(std::move(peers)), own_(std::move(own)),
      number_{peers_->runs_in().draw(), peers_->runs_in().draw()} {
    register_exchange_ops();
    auto tasks = peers_->cluster().all_tasks();
    const auto mine =
        std::find_if(tasks.begin(), tasks.end(), [&](const auto& t) { return to_string(t) == peers_->self().name; });
    std::rotate(tasks.begin(), mine, mine + 1); // nodes that name no task run here
    where_ = make_placement(options_, tasks);
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

RILL_COLD partition cluster_session::cut(const plan_key& key, const graph_state& in) {
    return compile_partition(key, in.may_be_dynamic() ? registered_dynamic_runtime.load() : nullptr, options_, *where_,
                             [this](const device& d) -> const device& { return *devices().find(task_of(d)); });
}

RILL_COLD std::vector<part_graph> cluster_session::parts(const plan_key& key) {
    check_open();
    std::vector<part_graph> all;
    if (const auto* in = graph_of(key)) {
        const auto made = cut(key, *in);
        for (const auto& p : made.parts) all.push_back(make_part_graph(p, graph_));
    }
    return all;
}

RILL_COLD std::shared_ptr<const cluster_run> cluster_session::prepare(const plan_key& key) {
    check_open();
    const auto run = std::make_shared<cluster_run>();
    run->fetches = key.fetches.size();
    const auto* in = graph_of(key);
    if (!in) return run;
    {
        const std::lock_guard lock(mutex_);
        run->number = ++last_run_;
    }
    const auto made = cut(key, *in);
    run->parts.resize(made.parts.size());
    awaited_answers all(runs_in());
    for (std::size_t k = 0; k < made.parts.size(); ++k) {
        auto done = all.next();
        try {
            register_part(run, k, made, done);
        } catch (...) {
            done(std::current_exception(), {});
        }
    }
    all.wait();
    for (const auto& p : run->parts) check_incarnation(p.task, p.incarnation);
    return run;
}

RILL_COLD void cluster_session::register_part(const std::shared_ptr<cluster_run>& run, std::size_t k,
                                              const partition& cut, answer_function done) {
    const auto& part = cut.parts[k];
    const auto made = make_part_graph(part, graph_);
    auto& p = run->parts[k];
    p.task = to_string(task_of(*part.where));
    p.feeds = made.feed_numbers;
    p.fetches = made.fetch_numbers;
    register_meta meta;
    meta.run = run->number;
    for (const auto& e : made.feeds) meta.feeds.push_back(e.from->name + ":" + std::to_string(e.port));
    for (const auto& e : made.fetches) meta.fetches.push_back(e.from->name + ":" + std::to_string(e.port));
    for (const auto* n : made.targets) meta.targets.push_back(n->name);
    const auto task_at = [&](int end) { return to_string(task_of(*cut.parts[static_cast<std::size_t>(end)].where)); };
    for (const auto& e : cut.edges) {
        if (e.from == static_cast<int>(k)) meta.sends.push_back({e.number, task_at(e.to)});
        if (e.to == static_cast<int>(k)) meta.receives.push_back({e.number, task_at(e.from)});
    }
    meta.edges = static_cast<std::uint32_t>(cut.edges.size());
    meta.replica = options_.replica;
    meta.progress_timeout = options_.progress_timeout.count();
    auto bytes = bytes_of(save_graph(made.of));
    if (p.task == peers_->self().name) {
        p.incarnation = peers_->self().incarnation;
        own_->register_run(number_, meta, bytes);
        return done(nullptr, {});
    }
    p.to = peers_->to(p.task);
    wire_request r{.method = wire_method::register_run, .session = number_, .meta = bytes_of_meta(meta)};
    r.payload.emplace_back(std::move(bytes));
    r.deadline = runs_in().now_plus(peers_->health().control);
    p.to->call(std::move(r), [run, k, done](const std::exception_ptr& problem, wire_answer a) {
        run->parts[k].incarnation = a.incarnation;
        done(problem, std::move(a));
    });
}

RILL_COLD void cluster_session::start(const std::shared_ptr<const cluster_run>& run, std::vector<any_array> feeds,
                                      const run_options& how, completion done) {
    std::shared_ptr<cluster_step> step;
    std::uint64_t over_below = 0;
    {
        const std::lock_guard lock(mutex_);
        if (!closed_why_.empty()) throw cancelled(closed_why_);
        step = std::make_shared<cluster_step>(shared_from_this(), run, ++last_step_, std::move(done));
        steps_[last_step_] = step;
        over_below = steps_.begin()->first;
    }
    step->start(feeds, how, over_below);
}

RILL_COLD void cluster_session::drop(const cluster_run& run) noexcept {
    if (closed()) return; // the tasks have forgotten the session
    for (const auto& p : run.parts) try {
            if (!p.to) {
                own_->drop_run(number_, run.number);
                continue;
            }
            wire_request r{.method = wire_method::drop_run,
                           .session = number_,
                           .meta = bytes_of_meta(drop_meta{run.number}),
                           .incarnation = p.incarnation};
            r.deadline = runs_in().now_plus(peers_->health().control);
            p.to->call(std::move(r), [](const std::exception_ptr&, const wire_answer&) {});
        } catch (...) { // the server has stopped: so have its channels
        }
}

RILL_COLD void cluster_session::close(const std::string& why) noexcept {
    std::map<std::uint64_t, std::weak_ptr<cluster_step>> steps;
    std::map<std::string, std::uint64_t> tasks;
    {
        const std::lock_guard lock(mutex_);
        if (!closed_why_.empty()) return;
        closed_why_ = why;
        steps = steps_;
        tasks = incarnations_;
    }
    for (const auto& [number, s] : steps)
        if (const auto step = s.lock()) step->fail(std::make_exception_ptr(cancelled(why)));
    for (const auto& [task, incarnation] : tasks) try { // also one that has restarted, if a part was registered there
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

RILL_COLD void master::reset(const std::vector<std::string>& containers, std::chrono::nanoseconds timeout) const {
    awaited_answers all(peers_->runs_in());
    const auto deadline = peers_->runs_in().now_plus(timeout);
    for (const auto& t : peers_->cluster().all_tasks()) {
        const auto task = to_string(t);
        auto done = all.next();
        if (task == peers_->self().name) {
            own_->reset(containers);
            done(nullptr, {});
        } else {
            peers_->to(task)->call(
                {.method = wire_method::reset, .meta = bytes_of_meta(names_meta{containers}), .deadline = deadline},
                done);
        }
    }
    all.wait();
}

}}} // namespace rill::RILL_ABI::detail
