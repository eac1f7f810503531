// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/distributed/client_session.hpp>

#include <algorithm>
#include <exception>
#include <utility>

#include <rill/distributed/run_by_names.hpp>
#include <rill/distributed/task_state.hpp>
#include <rill/distributed/tensor_frame.hpp>
#include <rill/graph/serialization/saved_graph.hpp>
#include <rill/graph/serialization/serialization.hpp> // defines saved_graph_of

namespace rill { inline namespace RILL_ABI { namespace detail {

/// The extra wait for the master's own error, which says more than that it was late.
inline constexpr std::chrono::milliseconds grace_for_errors{250};

/// Lets a token give up a call.
inline cancellation::registration give_up_by(const cancellation_token& token, channel& to, std::uint64_t call) {
    return token.on_cancel([weak = to.weak_from_this(), call] {
        if (const auto there = weak.lock())
            there->give_up(call, error_made_by([] { return cancelled("the run was cancelled by its token"); }));
    });
}

RILL_COLD wire_answer call_and_wait(channel& to, wire_request request, const run_options* how) {
    struct ending {
        std::mutex mutex;
        std::unique_ptr<environment::signal> changed;
        bool is_over = false;
        std::exception_ptr problem;
        wire_answer answer;
    };
    const auto end = std::make_shared<ending>();
    end->changed = to.runs_in().make_signal();
    const auto call = to.call(std::move(request), [end](std::exception_ptr problem, wire_answer a) {
        const std::lock_guard lock(end->mutex);
        end->is_over = true;
        end->problem = std::move(problem);
        end->answer = std::move(a);
        end->changed->notify();
    });
    cancellation::registration cancels;
    if (how && how->cancel) cancels = give_up_by(*how->cancel, to, call);
    std::unique_lock lock(end->mutex);
    while (!end->is_over) end->changed->wait(lock, environment::time_point::max());
    if (end->problem) std::rethrow_exception(end->problem);
    return std::move(end->answer);
}

RILL_COLD void reset_cluster(channel& to, const std::vector<std::string>& containers,
                             std::chrono::nanoseconds timeout) {
    call_and_wait(to, {.method = wire_method::reset_cluster,
                       .meta = bytes_of_meta(names_meta{containers}),
                       .deadline = to.runs_in().now_plus(timeout),
                       .grace = grace_for_errors});
}

RILL_COLD std::shared_ptr<client_session> client_session::open(std::shared_ptr<channel> to,
                                                               const session_options& options) {
    auto made = std::make_shared<client_session>(std::move(to), options);
    made->keep();
    return made;
}

RILL_COLD client_session::client_session(std::shared_ptr<channel> to, const session_options& options)
    : to_(std::move(to)) {
    if (options.gpu.choose_devices())
        throw invalid_argument("gpu.visible_devices and gpu.virtual_devices choose devices of this process; a session "
                               "with a target has those of its tasks");
    session_meta m;
    for (const auto& [type, count] : options.device_count) m.device_count.emplace_back(type, count);
    m.placer = static_cast<std::uint8_t>(options.placer);
    m.wire = static_cast<std::uint8_t>(options.wire);
    m.allow_soft_placement = options.allow_soft_placement;
    m.log_device_placement = options.log_device_placement;
    m.raise_primitives = options.raise_primitives;
    m.progress_timeout = options.progress_timeout.count();
    m.replica = options.replica;
    const auto made = create(bytes_of_meta(m));
    const auto opened = meta_of<opened_meta>(made.meta);
    number_ = {opened.high, opened.low};
    lease_ = std::chrono::nanoseconds(opened.lease);
    master_ = made.incarnation;
}

/// Opens the session at the master. A server that has started again since an earlier session of this process is asked once more: what it
/// was asked in its former life is gone.
RILL_COLD wire_answer client_session::create(const std::string& meta) {
    const auto known = to_->incarnation();
    try {
        return call_and_wait(*to_, request(wire_method::create_session, meta));
    } catch (const aborted&) {
        if (known == 0 || to_->incarnation() == known) throw;
    }
    return call_and_wait(*to_, request(wire_method::create_session, meta));
}

RILL_COLD client_session::~client_session() { close("the session is closed"); }

/// Returns a request whose deadline is that of control calls, plus the start of a task.
RILL_COLD wire_request client_session::request(wire_method m, std::string meta) const {
    const auto& times = to_->times();
    return {.method = m,
            .session = number_,
            .meta = std::move(meta),
            .incarnation = master_,
            .deadline = runs_in().now_plus(times.first_control()),
            .grace = grace_for_errors};
}

/// Tells the master at intervals that the client is alive.
RILL_COLD void client_session::keep() {
    const std::lock_guard lock(mutex_);
    if (!closed_why_.empty()) return;
    timer_ = runs_in().at(runs_in().now_plus(lease_ / 3), [weak = weak_from_this()] {
        const auto self = weak.lock();
        if (!self) return;
        try {
            self->to_->call(self->request(wire_method::keep_session),
                            [](const std::exception_ptr&, const wire_answer&) {});
        } catch (...) { // the next one is in time, too
        }
        try {
            self->keep();
        } catch (...) { // once more: otherwise the master would close the session
            self->keep();
        }
    });
}

RILL_COLD void client_session::check_open() const {
    const std::lock_guard lock(mutex_);
    if (!closed_why_.empty()) throw cancelled(closed_why_);
}

/// Calls a method that compiles a run of a graph. Its errors name the places of nodes.
inline wire_answer call_about(channel& to, wire_request request, const graph& g, const run_options* how = nullptr) {
    try {
        return call_and_wait(to, std::move(request), how);
    } catch (...) {
        std::rethrow_exception(with_places(std::current_exception(), g));
    }
}

RILL_COLD client_session::prepared client_session::prepare(const graph& g, const plan_key& key,
                                                           const run_options* how) {
    check_open();
    if (key.fetches.empty() && key.targets.empty()) return {};
    auto r = request(wire_method::prepare_run, bytes_of_meta(names_of(key)));
    r.payload.emplace_back(bytes_of_run(g, key));
    if (how && how->timeout != forever) r.deadline = std::min(r.deadline, runs_in().now_plus(how->timeout));
    const auto made = call_about(*to_, std::move(r), g, how);
    prepared p{meta_of<run_meta>(made.meta).run, {}};
    if (!made.payload.empty()) p.tasks = meta_of<names_meta>(made.payload[0].bytes()).names;
    return p;
}

RILL_COLD void client_session::start(const prepared& run, std::span<const any_array> feeds, const run_options& how,
                                     completion done) {
    check_open();
    if (run.run == 0) return done(nullptr, {});
    wire_request r{
        .method = wire_method::run_step, .session = number_, .incarnation = master_, .grace = grace_for_errors};
    r.meta = bytes_of_meta(run_step_meta{run.run, how.trace != nullptr, encode_tensors(feeds, r.payload)});
    if (how.timeout != forever) r.deadline = runs_in().now_plus(how.timeout);
    const auto cancels = std::make_shared<cancellation::registration>();
    const auto step = [&] {
        const std::lock_guard lock(mutex_);
        steps_[++last_step_] = 0;
        return last_step_;
    }();
    const auto call =
        to_->call(std::move(r), [self = shared_from_this(), step, cancels, trace = how.trace,
                                 done = std::move(done)](std::exception_ptr problem, const wire_answer& a) {
            {
                const std::lock_guard lock(self->mutex_);
                self->steps_.erase(step);
            }
            std::vector<any_array> values;
            if (!problem) try {
                    if (trace && !a.payload.empty()) trace->entries = meta_of<trace_meta>(a.payload[0].bytes()).entries;
                    values = decode_tensors(meta_of<values_meta>(a.meta).values, a.payload);
                } catch (...) {
                    problem = current_error();
                }
            done(problem, std::move(values));
        });
    {
        const std::lock_guard lock(mutex_);
        if (const auto at = steps_.find(step); at != steps_.end()) at->second = call;
    }
    if (how.cancel) *cancels = give_up_by(*how.cancel, *to_, call);
}

RILL_COLD void client_session::release(const prepared& run) noexcept {
    try {
        check_open();
        if (run.run > 0)
            to_->call(request(wire_method::release_run, bytes_of_meta(run_meta{run.run})),
                      [](const std::exception_ptr&, const wire_answer&) {});
    } catch (...) { // closed: the master has dropped all runs
    }
}

RILL_COLD void client_session::close(std::string_view why) noexcept {
    std::map<std::uint64_t, std::uint64_t> steps;
    {
        const std::lock_guard lock(mutex_);
        if (!closed_why_.empty()) return;
        closed_why_ = text_made_by([&] { return why; }, "closed");
        timer_ = {};
        steps.swap(steps_);
    }
    if (master_ == 0) return; // the session was never opened
    try {
        auto r = request(wire_method::end_session, bytes_of_meta(names_meta{{std::string(why)}}));
        r.deadline = runs_in().now_plus(std::chrono::seconds(1));
        to_->call(std::move(r), [](const std::exception_ptr&, const wire_answer&) {});
    } catch (...) { // the master ends the session after its lease
    }
    for (const auto& [step, call] : steps) // soon, even if the master does not answer
        to_->give_up(call, error_made_by([&] { return cancelled(std::string(why)); }));
}

RILL_COLD void client_session::fence(const prepared& run, bool closes) {
    check_open();
    if (run.run > 0) call_and_wait(*to_, request(wire_method::fence_run, bytes_of_meta(fence_meta{run.run, closes})));
}

RILL_COLD std::vector<saved_resource> client_session::saved_resources() {
    check_open();
    const auto told = call_and_wait(*to_, request(wire_method::save_state));
    std::vector<saved_resource> all;
    for (auto& r : decode_resources(told.meta, told.payload)) {
        r.what.container = r.task + "|" + r.what.container;
        all.push_back(std::move(r.what));
    }
    return all;
}

RILL_COLD void client_session::restore_resource(const saved_resource& saved) {
    check_open();
    task_resource r{"", saved}; // of a local session: for the task of the master
    if (const auto bar = saved.container.find('|'); saved.container.starts_with("/job:") && bar != std::string::npos) {
        r.task = saved.container.substr(0, bar);
        r.what.container = saved.container.substr(bar + 1);
    }
    auto q = request(wire_method::restore_state);
    q.meta = encode_resources({&r, 1}, q.payload);
    call_and_wait(*to_, std::move(q));
}

RILL_COLD std::vector<session_device> client_session::devices() {
    check_open();
    const auto made = call_and_wait(*to_, request(wire_method::list_devices));
    std::vector<session_device> all;
    for (const auto& d : meta_of<devices_meta>(made.meta).all)
        all.push_back({d.name, d.type, static_cast<std::size_t>(d.memory)});
    return all;
}

RILL_COLD std::vector<run_part> client_session::parts(const graph& g, const plan_key& key) {
    check_open();
    auto r = request(wire_method::cut_run, bytes_of_meta(names_of(key)));
    r.payload.emplace_back(bytes_of_run(g, key));
    const auto made = call_about(*to_, std::move(r), g);
    const auto devices = meta_of<names_meta>(made.meta).names;
    if (devices.size() != made.payload.size()) throw data_loss("parts of a run without their devices");
    std::vector<run_part> all;
    for (std::size_t k = 0; k < devices.size(); ++k)
        all.push_back({load_graph(saved_graph_of(made.payload[k].bytes())), file_name_of(devices[k])});
    return all;
}

}}} // namespace rill::RILL_ABI::detail
