// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// The requests of savers at a master: who may run steps, and the state of queues, tables and random counters.

#include <rill/distributed/master.hpp>
#include <rill/distributed/master.ipp>

#include <algorithm>
#include <mutex>
#include <utility>
#include <vector>

#include <rill/core/log.hpp>
#include <rill/distributed/joined_answers.hpp>
#include <rill/distributed/task_state.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

RILL_COLD void master::fence(const incoming_request& request, const answer_function& reply) {
    const auto in = find(request.session);
    const auto meta = meta_of<fence_meta>(request.meta);
    std::shared_ptr<const cluster_run> run;
    {
        const std::lock_guard lock(mutex_);
        const auto at = in->runs.find(meta.run);
        if (at == in->runs.end()) throw aborted("the session has no run " + std::to_string(meta.run));
        run = at->second;
    }
    const auto ends = begin(in, reply);
    try {
        fence_tasks(request, *run, ends);
    } catch (...) {
        ends(current_error(), {});
    }
}

RILL_COLD void master::fence_tasks(const incoming_request& request, const cluster_run& run,
                                   const answer_function& ends) {
    const auto meta = meta_of<fence_meta>(request.meta);
    const auto all = std::make_shared<joined_answers>([ends](const std::exception_ptr& problem) { ends(problem, {}); });
    for (const auto& p : run.parts) {
        auto ended = all->next();
        try {
            if (!p.to)
                own_->fence(request.session, meta.closes != 0, [ended] { ended(nullptr, {}); });
            else
                p.to->call({.method = wire_method::fence,
                            .session = request.session,
                            .meta = request.meta,
                            .incarnation = p.incarnation,
                            .deadline = request.deadline},
                           ended);
        } catch (...) {
            ended(std::current_exception(), {});
        }
    }
    all->close();
}

/// The state of resources, collected from the tasks.
struct collected_state {
    std::mutex mutex;
    std::vector<task_resource> all;

    void add(std::vector<task_resource>&& more) {
        const std::lock_guard lock(mutex);
        for (auto& r : more) all.push_back(std::move(r));
    }
};

RILL_COLD void master::save_state(const incoming_request& request, const answer_function& reply) {
    const auto in = find(request.session);
    const auto ends = begin(in, reply);
    try {
        collect_state(request, *in->of, ends);
    } catch (...) {
        ends(current_error(), {});
    }
}

RILL_COLD void master::collect_state(const incoming_request& request, const cluster_session& of,
                                     const answer_function& ends) {
    const auto made = std::make_shared<collected_state>();
    const auto all = std::make_shared<joined_answers>([made, ends](const std::exception_ptr& problem) {
        if (problem) return ends(problem, {});
        wire_answer a;
        try {
            a.meta = encode_resources(made->all, a.payload);
        } catch (...) {
            return ends(std::current_exception(), {});
        }
        ends(nullptr, std::move(a));
    });
    for (const auto& [task, incarnation] : of.tasks()) {
        const auto ended = all->next();
        try {
            if (task == peers_->self().name) {
                answer_later(
                    peers_->runs_in(),
                    [made, ended](std::exception_ptr problem, const wire_answer&) { ended(problem, {}); },
                    [made, task, in = own_->containers()] {
                        made->add(resources_of_task(task, *in));
                        return wire_answer();
                    });
                continue;
            }
            peers_->to(task)->call({.method = wire_method::save_resources,
                                    .session = request.session,
                                    .incarnation = incarnation,
                                    .deadline = request.deadline},
                                   [made, ended](std::exception_ptr problem, const wire_answer& a) {
                                       if (!problem) try {
                                               made->add(decode_resources(a.meta, a.payload));
                                           } catch (...) {
                                               problem = std::current_exception();
                                           }
                                       ended(problem, {});
                                   });
        } catch (...) {
            ended(std::current_exception(), {});
        }
    }
    all->close();
}

RILL_COLD void master::restore_state(const incoming_request& request, const answer_function& reply) {
    const auto ends = begin(find(request.session), reply);
    try {
        spread_state(request, ends);
    } catch (...) {
        ends(current_error(), {});
    }
}

RILL_COLD void master::spread_state(const incoming_request& request, const answer_function& ends) {
    const auto all = std::make_shared<joined_answers>([ends](const std::exception_ptr& problem) { ends(problem, {}); });
    const auto& self = peers_->self().name;
    const auto tasks = peers_->cluster().all_tasks();
    std::exception_ptr problem;
    try {
        for (const auto& r : decode_resources(request.meta, request.payload)) {
            const auto& task = r.task.empty() ? self : r.task;
            if (task == self) {
                answer_later(peers_->runs_in(), all->next(), [in = own_->containers(), what = r.what] {
                    in->restore(what);
                    return wire_answer();
                });
            } else if (std::none_of(tasks.begin(), tasks.end(), [&](const auto& t) { return to_string(t) == task; })) {
                log_message(log_level::warning, "restored without the state of '" + r.what.name + "': the cluster has no " + task);
            } else {
                wire_request to{.method = wire_method::restore_resource, .session = request.session, .deadline = request.deadline};
                to.meta = encode_resources({&r, 1}, to.payload);
                peers_->to(task)->call(std::move(to), all->next());
            }
        }
    } catch (...) {
        problem = std::current_exception();
    }
    if (problem) all->next()(problem, {});
    all->close();
}

}}} // namespace rill::RILL_ABI::detail
