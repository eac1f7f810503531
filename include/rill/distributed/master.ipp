// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/distributed/master.hpp>

#include <algorithm>
#include <mutex>
#include <utility>
#include <vector>

#include <rill/distributed/joined_answers.hpp>
#include <rill/distributed/run_by_names.hpp>
#include <rill/distributed/tensor_frame.hpp>
#include <rill/graph/serialization/saved_graph.hpp>
#include <rill/graph/serialization/serialization.hpp> // defines bytes_of and saved_graph_of

namespace rill { inline namespace RILL_ABI { namespace detail {

/// Returns the options of a session from its untrusted request.
inline session_options options_of(const session_meta& m) {
    if (m.placer > static_cast<std::uint8_t>(placers::by_cost) ||
        m.wire > static_cast<std::uint8_t>(wire_format::upper16))
        throw data_loss("options of a session that this program does not know");
    session_options o;
    o.device_count = counts_of(m.device_count);
    o.placer = static_cast<placers>(m.placer);
    o.wire = static_cast<wire_format>(m.wire);
    o.allow_soft_placement = m.allow_soft_placement;
    o.log_device_placement = m.log_device_placement;
    o.raise_primitives = m.raise_primitives;
    o.progress_timeout = std::chrono::nanoseconds(m.progress_timeout);
    o.replica = m.replica;
    return o;
}

/// A run of a client: its graph, feeds, fetches and targets.
struct sent_run {
    explicit sent_run(const incoming_request& r) {
        if (r.payload.empty()) throw data_loss("a run without a graph");
        of = load_graph(saved_graph_of(r.payload[0].bytes()));
        key = plan_key_of(meta_of<run_names>(r.meta), of);
    }
    graph of;
    plan_key key;
};

RILL_COLD std::size_t master::sessions() const {
    const std::lock_guard lock(mutex_);
    return sessions_.size();
}

RILL_COLD void master::handle(const incoming_request& request, const answer_function& reply) {
    switch (request.method) {
    case wire_method::create_session: return create(request, reply);
    case wire_method::prepare_run:
    case wire_method::cut_run: {
        const auto ends = begin(find(request.session), reply);
        try {
            peers_->runs_in().post([self = shared_from_this(), request, ends] { // compiling takes long
                try {
                    if (request.method == wire_method::cut_run)
                        self->cut(request, ends);
                    else
                        self->prepare(request, ends);
                } catch (...) {
                    ends(current_error(), {});
                }
            });
        } catch (...) {
            ends(current_error(), {});
        }
        return;
    }
    case wire_method::run_step: return run(request, reply);
    case wire_method::release_run: release(request); return reply(nullptr, {});
    case wire_method::end_session:
        end(request.session, meta_of<names_meta>(request.meta).names.at(0));
        return reply(nullptr, {});
    case wire_method::keep_session: find(request.session); return reply(nullptr, {});
    case wire_method::find_session: check_known(request.session); return reply(nullptr, {});
    case wire_method::reset_cluster: return reset(request, reply);
    case wire_method::list_devices: return list_devices(request, reply);
    case wire_method::fence_run: return fence(request, reply);
    case wire_method::report_failure: {
        const auto meta = meta_of<abort_meta>(request.meta);
        find(request.session)->of->fail_step(meta.step, made_error(meta.code, meta.text));
        return reply(nullptr, {});
    }
    case wire_method::save_state: return save_state(request, reply);
    case wire_method::restore_state: return restore_state(request, reply);
    default: throw unimplemented("method " + std::to_string(static_cast<std::uint32_t>(request.method)));
    }
}

RILL_COLD std::shared_ptr<master::open_session> master::find(const session_number& number) {
    const std::lock_guard lock(mutex_);
    if (closed_) throw unavailable(peers_->self().name + " has stopped");
    const auto at = sessions_.find(number);
    if (at == sessions_.end())
        throw aborted(peers_->self().name + " (incarnation " + std::to_string(peers_->self().incarnation) +
                      ") does not know the session: it was closed, or its client gave no sign of life for " +
                      std::to_string(peers_->health().lease.count()) + " ms");
    at->second->heard = peers_->runs_in().now();
    return at->second;
}

RILL_COLD void master::check_known(const session_number& number) const {
    const std::lock_guard lock(mutex_);
    if (!sessions_.contains(number)) throw aborted(peers_->self().name + " does not know the session");
}

RILL_COLD answer_function master::begin(const std::shared_ptr<open_session>& in, const answer_function& reply) {
    answer_function made = [self = shared_from_this(), in, reply](const std::exception_ptr& problem, wire_answer a) {
        {
            const std::lock_guard ended(self->mutex_);
            --in->running;
            in->heard = self->peers_->runs_in().now();
        }
        reply(problem, std::move(a));
    };
    const std::lock_guard lock(mutex_);
    ++in->running;
    return made;
}

RILL_COLD void master::create(const incoming_request& request, const answer_function& reply) {
    const auto made = std::make_shared<open_session>();
    made->of = std::make_shared<cluster_session>(options_of(meta_of<session_meta>(request.meta)), peers_, own_);
    made->heard = peers_->runs_in().now();
    const auto& number = made->of->number();
    {
        const std::lock_guard lock(mutex_);
        if (closed_) throw unavailable(peers_->self().name + " has stopped");
        sessions_[number] = made;
        watch();
    }
    reply(nullptr, {.meta = bytes_of_meta(opened_meta{number.high, number.low,
                                                      std::chrono::nanoseconds(peers_->health().lease).count()})});
}

RILL_COLD void master::prepare(const incoming_request& request, const answer_function& reply) {
    const auto in = find(request.session);
    const sent_run sent(request);
    in->of->prepare(
        sent.of, sent.key,
        [self = shared_from_this(), in, reply, given_up = request.given_up](
            const std::exception_ptr& problem, const std::shared_ptr<const cluster_run>& run) {
            if (problem) return reply(problem, {});
            if (given_up->is_cancelled()) { // nobody would release the run
                in->of->drop(*run);
                return reply(error_made_by([] { return cancelled("the run was given up by its client"); }), {});
            }
            wire_answer a;
            try {
                names_meta tasks;
                for (const auto& p : run->parts) tasks.names.push_back(p.task);
                a.meta = bytes_of_meta(run_meta{run->number});
                a.payload.emplace_back(bytes_of_meta(tasks));
                const std::lock_guard lock(self->mutex_);
                in->runs[run->number] = run;
            } catch (...) {
                return reply(current_error(), {});
            }
            reply(nullptr, std::move(a));
        },
        request.deadline);
}

RILL_COLD void master::run(const incoming_request& request, const answer_function& reply) {
    const auto in = find(request.session);
    const auto meta = meta_of<run_step_meta>(request.meta);
    auto feeds = decode_tensors(meta.values, request.payload);
    std::shared_ptr<const cluster_run> run;
    {
        const std::lock_guard lock(mutex_);
        const auto at = in->runs.find(meta.run);
        if (at == in->runs.end()) throw aborted("the session has no run " + std::to_string(meta.run));
        run = at->second;
    }
    auto& env = peers_->runs_in();
    run_options how;
    if (request.deadline != environment::time_point::max()) how.timeout = request.deadline - env.now();
    const cancellation_token token;
    how.cancel = token;
    const auto trace = meta.is_traced ? std::make_shared<step_trace>() : nullptr;
    how.trace = trace.get();
    auto gives_up =
        std::make_shared<cancellation::registration>(request.given_up->on_cancel([token] { token.cancel(); }));
    const auto ends = begin(in, reply);
    try {
        in->of->start(run, std::move(feeds), how,
                      [ends, trace, gives_up, began = env.now(), &env](const std::exception_ptr& problem,
                                                                       const std::vector<any_array>& values) {
                          if (problem) return ends(problem, {});
                          wire_answer a;
                          try {
                              a = answer_with(values, trace.get(), env.now() - began);
                          } catch (...) {
                              return ends(current_error(), {});
                          }
                          ends(nullptr, std::move(a));
                      });
    } catch (...) {
        ends(current_error(), {});
    }
}

RILL_COLD void master::release(const incoming_request& request) {
    const auto in = find(request.session);
    std::shared_ptr<const cluster_run> gone;
    {
        const std::lock_guard lock(mutex_);
        const auto at = in->runs.find(meta_of<run_meta>(request.meta).run);
        if (at == in->runs.end()) return;
        gone = std::move(at->second);
        in->runs.erase(at);
    }
    in->of->drop(*gone);
}

RILL_COLD void master::end(const session_number& number, const std::string& why) noexcept {
    std::shared_ptr<open_session> gone;
    {
        const std::lock_guard lock(mutex_);
        const auto at = sessions_.find(number);
        if (at == sessions_.end()) return;
        gone = std::move(at->second);
        sessions_.erase(at);
    }
    gone->of->close(why);
}

RILL_COLD void master::close() noexcept {
    std::map<session_number, std::shared_ptr<open_session>> all;
    {
        const std::lock_guard lock(mutex_);
        closed_ = true;
        all.swap(sessions_);
        timer_ = {};
    }
    const auto why = text_made_by([&] { return peers_->self().name + " has stopped"; }, "stopped");
    for (const auto& [number, s] : all) s->of->close(why);
}

RILL_COLD void master::reset(const incoming_request& request, const answer_function& reply) {
    const auto containers = meta_of<names_meta>(request.meta).names;
    const auto all =
        std::make_shared<joined_answers>([reply](const std::exception_ptr& problem) { reply(problem, {}); });
    for (const auto& t : peers_->cluster().all_tasks()) {
        const auto task = to_string(t);
        auto ended = all->next();
        try {
            if (task == peers_->self().name) {
                own_->reset(containers);
                ended(nullptr, {});
            } else {
                peers_->to(task)->call(
                    {.method = wire_method::reset, .meta = request.meta, .deadline = request.deadline}, ended);
            }
        } catch (...) {
            ended(std::current_exception(), {});
        }
    }
    all->close();
}

/// The devices of all tasks, while the tasks are asked for their memory.
struct listed_devices {
    std::mutex mutex;
    devices_meta found;

    void note(const std::string& task, const devices_meta& there) {
        const std::lock_guard lock(mutex);
        for (auto& d : found.all) {
            const auto name = parse_device(d.name);
            if (to_string(device_name{name.job, name.replica, name.task, "", -1}) != task) continue;
            for (const auto& t :
                 there.all) { // a session may have more instances than the task: they share the memory of its first
                const auto own = parse_device(t.name);
                if (own.type == name.type && (own.index == name.index || d.memory == 0)) d.memory = t.memory;
            }
        }
    }
};

RILL_COLD void master::list_devices(const incoming_request& request, const answer_function& reply) {
    constexpr auto most = std::chrono::seconds(1); // the memory of a task that does not answer is unknown
    auto& env = peers_->runs_in();
    const auto made = std::make_shared<listed_devices>();
    for (const auto& d : find(request.session)->of->devices()) made->found.all.push_back({d.name, d.type, 0});
    const auto all = std::make_shared<joined_answers>([made, reply](const std::exception_ptr&) {
        wire_answer a;
        try {
            const std::lock_guard lock(made->mutex);
            a.meta = bytes_of_meta(made->found);
        } catch (...) {
            return reply(current_error(), {});
        }
        reply(nullptr, std::move(a));
    });
    made->note(peers_->self().name, worker::devices());
    for (const auto& t : peers_->cluster().all_tasks()) {
        const auto task = to_string(t);
        if (task == peers_->self().name) continue;
        const auto note = [made, task, ended = all->next()](const std::exception_ptr& problem, const wire_answer& a) {
            if (!problem) try {
                    made->note(task, meta_of<devices_meta>(a.meta));
                } catch (...) { // not a list of devices: their memory stays unknown
                }
            ended(nullptr, {});
        };
        peers_->to(task)->call(
            {.method = wire_method::status, .deadline = std::min(request.deadline, env.now_plus(most))}, note);
    }
    all->close();
}

RILL_COLD void master::cut(const incoming_request& request, const answer_function& reply) {
    const auto in = find(request.session);
    const sent_run sent(request);
    names_meta devices;
    wire_answer a;
    for (const auto& p : in->of->parts(sent.of, sent.key)) {
        devices.names.push_back(p.device);
        a.payload.emplace_back(bytes_of(save_graph(p.of)));
    }
    if (a.payload.size() >= wire_header::most_parts)
        throw resource_exhausted("a run of " + std::to_string(a.payload.size()) + " parts; a message has at most " +
                                 std::to_string(wire_header::most_parts - 1));
    a.meta = bytes_of_meta(devices);
    reply(nullptr, std::move(a));
}

/// Watches for clients that have become silent.
RILL_COLD void master::watch() {
    if (sessions_.empty() || watches_) return;
    timer_ = peers_->runs_in().at(peers_->runs_in().now_plus(peers_->health().lease / 2), [weak = weak_from_this()] {
        if (const auto self = weak.lock()) self->look();
    });
    watches_ = true;
}

RILL_COLD void master::look() {
    std::vector<session_number> silent;
    {
        const std::lock_guard lock(mutex_);
        watches_ = false;
        if (closed_) return;
        try {
            watch();
        } catch (...) { // once more: nobody else may do it
            watch();
        }
        const auto now = peers_->runs_in().now();
        for (const auto& [number, s] : sessions_)
            if (s->running == 0 && now - s->heard > peers_->health().lease) silent.push_back(number);
    }
    for (const auto& number : silent) end(number, "the client of the session gave no sign of life");
}

}}} // namespace rill::RILL_ABI::detail
