// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/distributed/master.hpp>

#include <algorithm>
#include <numeric>
#include <utility>

#include <rill/distributed/awaited_answers.hpp>
#include <rill/distributed/tensor_frame.hpp>
#include <rill/graph/serialization/saved_graph.hpp>
#include <rill/graph/serialization/serialization.hpp> // defines bytes_of and saved_graph_of
#include <rill/ops/exchange/exchange_ops.hpp>
#include <rill/runtime/dynamic_runtime.hpp>
#include <rill/runtime/plan/compile_graph.hpp>
#include <rill/runtime/plan/part_graph.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

/// The name of the task of a device.
inline device_name task_of(const device& d) { return {d.full.job, d.full.replica, d.full.task, "", -1}; }

/// A step of a run under way in its tasks.
class cluster_step : public std::enable_shared_from_this<cluster_step> {
public:
    cluster_step(std::shared_ptr<cluster_session> session, std::shared_ptr<const cluster_run> run, std::uint64_t number,
                 completion done)
        : session_(std::move(session)), run_(std::move(run)), number_(number), done_(std::move(done)),
          has_ended_(run_->parts.size()), left_(run_->parts.size()), values_(run_->fetches) {}

    void start(const std::vector<any_array>& feeds, const run_options& how, std::uint64_t over_below);
    /// Ends the step with a problem, in all tasks. The first one counts.
    void fail(const std::exception_ptr& problem);

private:
    void start_there(std::size_t k, const std::vector<any_array>& fed, std::uint64_t over_below,
                     environment::time_point deadline, environment::time_point began);
    void start_here(std::size_t k, std::vector<any_array> fed, std::uint64_t over_below,
                    environment::time_point deadline, environment::time_point began);
    void part_ended(std::size_t k, const std::exception_ptr& problem, std::vector<any_array> values);
    void tell();
    void join_traces();

    /// The trace of a part, whose times count from `begin` on the master's clock.
    struct part_trace {
        step_trace all;
        std::int64_t begin = 0;
    };

    const std::shared_ptr<cluster_session> session_;
    const std::shared_ptr<const cluster_run> run_;
    const std::uint64_t number_;
    std::mutex mutex_;
    completion done_; // null: told
    std::vector<char> has_ended_;
    std::size_t left_;
    std::vector<any_array> values_;
    std::vector<part_trace> traces_;
    step_trace* trace_ = nullptr; // the caller's
    std::exception_ptr problem_;
    environment::timer patience_; // for the answers of tasks after a problem
    cancellation::registration cancels_;
};

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
                self->fail(std::make_exception_ptr(cancelled("the run was cancelled by its token")));
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
            part_ended(k, std::current_exception(), {});
        }
}

/// Starts the part of another task.
RILL_COLD void cluster_step::start_there(std::size_t k, const std::vector<any_array>& fed, std::uint64_t over_below,
                                         environment::time_point deadline, environment::time_point began) {
    const auto& p = run_->parts[k];
    wire_request r{.method = wire_method::run_part,
                   .session = session_->number_,
                   .incarnation = p.incarnation,
                   .deadline = deadline};
    r.meta =
        bytes_of_meta(step_meta{run_->number, number_, over_below, trace_ != nullptr, encode_tensors(fed, r.payload)});
    const auto sent = session_->runs_in().now();
    p.to->call(std::move(r), [self = shared_from_this(), k, sent, began,
                              is_traced = trace_ != nullptr](std::exception_ptr problem, const wire_answer& a) {
        std::vector<any_array> values;
        if (!problem) try {
                const auto fetched = meta_of<values_meta>(a.meta);
                values = decode_tensors(fetched.values, a.payload);
                if (values.size() != self->run_->parts[k].fetches.size())
                    throw data_loss("a task has answered with another number of values");
                if (is_traced && !a.payload.empty()) { // half of the time that the part did not run went each way
                    const std::chrono::nanoseconds round_trip = self->session_->runs_in().now() - sent;
                    auto& t = self->traces_[k];
                    t.all.entries = meta_of<trace_meta>(a.payload[0].bytes()).entries;
                    t.begin = std::chrono::nanoseconds(sent - began).count() +
                              std::max<std::int64_t>(round_trip.count() - fetched.lasted, 0) / 2;
                }
            } catch (...) {
                problem = std::current_exception();
            }
        self->part_ended(k, problem, std::move(values));
    });
}

/// Starts the part of the master's own task.
RILL_COLD void cluster_step::start_here(std::size_t k, std::vector<any_array> fed, std::uint64_t over_below,
                                        environment::time_point deadline, environment::time_point began) {
    traces_[k].begin = std::chrono::nanoseconds(session_->runs_in().now() - began).count();
    session_->own_->run_part(
        session_->number_, {run_->number, number_, over_below}, std::move(fed), deadline,
        trace_ ? &traces_[k].all : nullptr,
        [self = shared_from_this(), k](const std::exception_ptr& problem, std::vector<any_array> values) {
            self->part_ended(k, problem, std::move(values));
        });
}

RILL_COLD void cluster_step::part_ended(std::size_t k, const std::exception_ptr& problem,
                                        std::vector<any_array> values) {
    if (problem) fail(problem);
    {
        const std::lock_guard lock(mutex_);
        if (std::exchange(has_ended_[k], char(1))) return;
        const auto& to = run_->parts[k].fetches;
        for (std::size_t i = 0; i < values.size(); ++i) values_[static_cast<std::size_t>(to[i])] = std::move(values[i]);
        if (--left_ > 0) return;
    }
    tell();
}

RILL_COLD void cluster_step::fail(const std::exception_ptr& problem) {
    std::vector<std::size_t> others;
    {
        const std::lock_guard lock(mutex_);
        if (problem_ || !done_) return;
        problem_ = problem;
        for (std::size_t k = 0; k < has_ended_.size(); ++k)
            if (!has_ended_[k]) others.push_back(k);
        auto& env = session_->runs_in();
        patience_ = env.at(env.now_plus(std::chrono::milliseconds(100)), [weak = weak_from_this()] {
            if (const auto self = weak.lock()) self->tell();
        });
    }
    const auto [code, text] = described(problem);
    for (const auto k : others) {
        const auto& p = run_->parts[k];
        if (!p.to) {
            try {
                session_->own_->abort_step(session_->number_, number_, problem);
            } catch (const error&) { // it has stopped
            }
            continue;
        }
        wire_request r{.method = wire_method::abort_step,
                       .session = session_->number_,
                       .meta = bytes_of_meta(abort_meta{number_, static_cast<std::uint32_t>(code), text}),
                       .incarnation = p.incarnation};
        r.deadline = session_->runs_in().now_plus(session_->peers_->health().control);
        p.to->call(std::move(r), [](const std::exception_ptr&, const wire_answer&) {});
    }
}

RILL_COLD void cluster_step::tell() {
    completion done;
    std::exception_ptr problem;
    std::vector<any_array> values;
    {
        const std::lock_guard lock(mutex_);
        done = std::exchange(done_, nullptr);
        problem = problem_;
        values.swap(values_);
        patience_ = {};
    }
    if (!done) return;
    if (trace_ && !problem) join_traces();
    {
        const std::lock_guard lock(session_->mutex_);
        session_->steps_.erase(number_);
    }
    cancels_ = {};
    if (problem) values.clear();
    done(problem, std::move(values));
}

/// Joins the traces of all parts, in order of their begin.
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
    std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
        return into[static_cast<std::size_t>(a)].begin < into[static_cast<std::size_t>(b)].begin;
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
    const auto& devices = where_->devices();
    const auto cut =
        compile_partition(key, in->may_be_dynamic() ? registered_dynamic_runtime.load() : nullptr, options_, *where_,
                          [&](const device& d) -> const device& { return *devices.find(task_of(d)); });
    run->parts.resize(cut.parts.size());
    awaited_answers all(runs_in());
    for (std::size_t k = 0; k < cut.parts.size(); ++k) {
        auto done = all.next();
        try {
            register_part(run, k, cut, done);
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
    for (const auto& e : cut.edges)
        if (e.from == static_cast<int>(k))
            meta.sends.push_back({e.number, to_string(task_of(*cut.parts[static_cast<std::size_t>(e.to)].where))});
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
