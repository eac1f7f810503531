// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// The requests that a worker serves from the wire, and the status of the task.

#include <rill/distributed/worker.hpp>
#include <rill/distributed/worker.ipp>

#include <algorithm>
#include <new>
#include <utility>

#include <rill/core/platform.hpp>
#include <rill/distributed/joined_answers.hpp>
#include <rill/distributed/task_state.hpp>
#include <rill/distributed/tensor_frame.hpp>
#include <rill/passes/place.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

RILL_COLD void worker::check_sender(const registered_part& part, std::uint32_t edge, const std::string& caller) {
    const auto from = part.receives.find(edge);
    if (from == part.receives.end())
        throw data_loss("a value for edge " + std::to_string(edge) + ", which does not come to this task");
    if (from->second != caller)
        throw permission_denied("edge " + std::to_string(edge) + " brings values of " + from->second + ", not of " +
                                caller);
}

RILL_COLD void worker::check_early(const session_state& in, const std::string& caller) {
    std::size_t held = 0;
    for (const auto& [number, step] : in.steps)
        held += static_cast<std::size_t>(
            std::ranges::count_if(step->early, [&](const auto& e) { return e.caller == caller; }));
    if (held >= channel::most_pushes)
        throw resource_exhausted("steps that have not begun hold " + std::to_string(held) + " values of " + caller);
}

RILL_COLD void worker::take_push(const incoming_request& request, const answer_function& reply) {
    const auto meta = meta_of<push_meta>(request.meta);
    auto value = decode_tensor(meta.value, request.payload);
    const auto in = find(request.session);
    if (!in) return reply(unknown_session(), {});
    std::shared_ptr<wire_rendezvous> to;
    auto given_up = request.given_up->on_cancel([weak = weak_from_this(), session = request.session, step = meta.step] {
        if (const auto self = weak.lock())
            self->abort_step(session, step,
                             error_made_by([] { return cancelled("a value was given up by its sender"); }));
    });
    {
        const std::lock_guard lock(in->mutex);
        const auto part = in->parts.find(meta.run);
        if (part == in->parts.end()) return reply(unknown_session(), {});
        check_sender(*part->second, meta.edge, request.caller);
        if (!in->is_over(meta.step)) {
            const auto at = in->steps.find(meta.step);
            if (at != in->steps.end()) to = at->second->exchange;
            if (!to) { // answered once the step begins, so that the sender's credit bounds the memory here
                check_early(*in, request.caller);
                auto known = in->steps.find(meta.step);
                if (known == in->steps.end())
                    known = in->steps.emplace(meta.step, std::make_shared<running_step>()).first;
                return known->second->early.push_back(
                    {request.caller, meta.edge, meta.sequence, std::move(value), reply, std::move(given_up)});
            }
        }
    }
    if (to)
        to->deliver(meta.edge, meta.sequence, std::move(value)); // else the step is over and accepts no values
    reply(nullptr, {});
}

/// Ends a step whose value can't be sent, also if nothing of it is left to run. If the task's part has already ended without an error, the
/// master is told now. Otherwise the part that waits for the value would wait for long.
RILL_COLD void worker::fail_to_send(const session_number& session, std::uint64_t number,
                                    const std::exception_ptr& problem) {
    const auto in = find(session);
    if (!in) return;
    std::shared_ptr<running_step> step;
    {
        const std::lock_guard lock(in->mutex);
        if (const auto at = in->steps.find(number); at != in->steps.end()) {
            step = at->second;
            if (!step->unsent) step->unsent = problem;
            if (!step->problem) step->problem = problem;
        }
    }
    if (step) {
        step->exchange->abort(problem); // wakes waits for other tasks
        step->token->cancel();          // and all other waits
        return;
    }
    for (int tries = 0; tries < 2; ++tries) try {
            const auto [code, text] = described(problem);
            const auto& master = in->master; // never changes
            peers_->to(master.name)
                ->call({.method = wire_method::report_failure,
                        .session = session,
                        .meta = bytes_of_meta(abort_meta{number, static_cast<std::uint32_t>(code), text}),
                        .incarnation = master.incarnation,
                        .deadline = peers_->runs_in().now_plus(peers_->health().control)},
                       [](const std::exception_ptr&, const wire_answer&) {});
            return;
        } catch (const error&) { // this task is stopping
            return;
        } catch (const std::bad_alloc&) { // once more: otherwise a part would wait for long
        }
}

RILL_COLD pong_meta worker::progress() const {
    std::vector<std::shared_ptr<session_state>> all;
    {
        const std::lock_guard lock(mutex_);
        for (const auto& [number, s] : sessions_) all.push_back(s);
    }
    pong_meta m{peers_->progress(), {}};
    std::uint64_t number = 0;
    std::shared_ptr<running_step> oldest;
    std::shared_ptr<wire_rendezvous> exchange;
    for (const auto& s : all) {
        const std::lock_guard lock(s->mutex);
        for (const auto& [n, step] : s->steps)
            if (step->exchange && (!oldest || step->began < oldest->began))
                number = n, oldest = step, exchange = step->exchange;
    }
    if (!oldest) return m;
    constexpr std::size_t longest = 400;
    auto awaited = exchange->awaited();
    if (awaited.size() > longest) awaited = awaited.substr(0, longest) + " …";
    m.oldest = "step " + std::to_string(number) + (awaited.empty() ? " waits for no other task" : " waits for " + awaited);
    return m;
}

RILL_COLD devices_meta worker::devices() {
    devices_meta m;
    const auto where = make_placement({});
    for (const auto* d : where->devices().all())
        m.all.push_back({to_string(device_name{"", -1, -1, d->full.type, d->full.index}), d->type->name,
                         d->space ? d->space->bytes : host_memory()});
    return m;
}

RILL_COLD void worker::handle(const incoming_request& request, const answer_function& reply) {
    switch (request.method) {
    case wire_method::register_run:
        if (request.payload.empty()) throw data_loss("a part without a graph");
        return answer_later(peers_->runs_in(), reply, [self = shared_from_this(), request] { // compiling takes long
            if (request.given_up->is_cancelled()) throw cancelled("the run was given up before it was prepared");
            const auto meta = meta_of<register_meta>(request.meta);
            self->register_run(request.session, meta, request.payload[0].bytes(),
                               {request.caller, request.caller_incarnation, ""});
            if (request.given_up->is_cancelled()) { // the master takes the part for not registered
                self->drop_run(request.session, meta.run);
                throw cancelled("the run was given up while it was prepared");
            }
            return wire_answer();
        });
    case wire_method::run_part: {
        const auto meta = meta_of<step_meta>(request.meta);
        auto gives_up = std::make_shared<cancellation::registration>();
        const auto abort = [weak = weak_from_this(), session = request.session, step = meta.step,
                            who = request.caller] {
            if (const auto self = weak.lock())
                self->abort_step(session, step,
                                 error_made_by([&] { return cancelled("the step was given up by " + who); }));
        };
        *gives_up = request.given_up->on_cancel(abort);
        const auto trace = meta.is_traced ? std::make_shared<step_trace>() : nullptr;
        auto& env = peers_->runs_in();
        return run_part(request.session, meta, decode_tensors(meta.values, request.payload), request.deadline,
                        trace.get(),
                        [reply, gives_up, trace, &env, began = env.now()](const std::exception_ptr& problem,
                                                                          const std::vector<any_array>& values) {
                            if (problem) return reply(problem, {});
                            wire_answer a;
                            try {
                                a = answer_with(values, trace.get(), env.now() - began);
                            } catch (...) {
                                return reply(current_error(), {});
                            }
                            reply(nullptr, std::move(a));
                        });
    }
    case wire_method::push: return take_push(request, reply);
    case wire_method::abort_step: {
        const auto meta = meta_of<abort_meta>(request.meta);
        abort_step(request.session, meta.step, made_error(meta.code, meta.text));
        return reply(nullptr, {});
    }
    case wire_method::close_session: close_session(request.session); return reply(nullptr, {});
    case wire_method::reset: reset(meta_of<names_meta>(request.meta).names); return reply(nullptr, {});
    case wire_method::status: return reply(nullptr, {.meta = bytes_of_meta(devices())});
    case wire_method::drop_run:
        drop_run(request.session, meta_of<run_meta>(request.meta).run);
        return reply(nullptr, {});
    case wire_method::fence:
        return fence(request.session, meta_of<fence_meta>(request.meta).closes != 0, [reply] { reply(nullptr, {}); });
    case wire_method::save_resources: // an iterator may wait for its pipeline
        return answer_later(peers_->runs_in(), reply, [name = peers_->self().name, in = containers_] {
            wire_answer a;
            a.meta = encode_resources(resources_of_task(name, *in), a.payload);
            return a;
        });
    case wire_method::restore_resource:
        return answer_later(peers_->runs_in(), reply,
                            [in = containers_, all = decode_resources(request.meta, request.payload)] {
                                for (const auto& r : all) in->restore(r.what);
                                return wire_answer();
                            });
    default: break;
    }
    throw unimplemented(peers_->self().name + ": method " + std::to_string(static_cast<std::uint32_t>(request.method)));
}

}}} // namespace rill::RILL_ABI::detail
