// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>

#include <rill/core/algorithm.hpp>
#include <rill/ops/queue/queue.hpp>

namespace rill { inline namespace RILL_ABI {

/// A record of the operations that fill a queue, one thread each. The op computes nothing. Its control inputs are these operations, then
/// the one that closes the queue and the one that cancels pending enqueues.
struct queue_runner_op {
    static constexpr auto name = "QueueRunner", label = "queue_runner";
    static constexpr int inputs = 0;
    using domain_type = domains::every;
    static constexpr auto no_gradient = ""; // the op has no outputs
    static constexpr bool stateful = true;
    static constexpr auto role = op_role::control;
    std::string threads; // the control input that each thread runs: "0 0 1"

    static void fields(auto& op, auto& visit) { visit("threads", op.threads); }
    std::vector<tensor_type> outputs(std::span<const tensor_type>) const { return {}; }
};

namespace detail {

/// The contents of a queue_runner node.
struct queue_runner_note {
    std::string name;
    std::vector<const node*> enqueue = {}; // one for each thread
    const node* close = nullptr;
    const node* cancel = nullptr;
};

void add_queue_runner(const std::string& queue, const std::vector<operation>& enqueue, const operation& close,
                      const operation& cancel, const std::source_location& where);
std::vector<queue_runner_note> queue_runners_of(const graph& g);

} // namespace detail

/// Adds operations that start_queue_runners repeats, one thread each: add_queue_runner(q, {put, put}). The queue is closed when all of them
/// have reached the end of their input (`out_of_range`).
template <class... T>
void add_queue_runner(const queue<T...>& q, const std::vector<operation>& enqueue,
                      const std::source_location& where = std::source_location::current()) {
    detail::ensure_registered<queue_runner_op>();
    const graph_scope here(q.handle().graph());
    const auto close = q.close({}, where), cancel = q.close({.cancel_pending_enqueues = true}, where);
    detail::add_queue_runner(q.name(), enqueue, close, cancel, where);
}

}} // namespace rill::RILL_ABI

#if RILL_DEFINE
#include <sstream>

namespace rill { inline namespace RILL_ABI { namespace detail {

RILL_COLD void add_queue_runner(const std::string& queue, const std::vector<operation>& enqueue, const operation& close,
                                const operation& cancel, const std::source_location& where) {
    if (enqueue.empty())
        throw invalid_argument("add_queue_runner: there is no operation to run for '" + queue + "'" + at_place(where));
    queue_runner_op op;
    std::vector<const node*> all;
    for (const auto& o : enqueue) {
        const auto* n = checked_node(o.node(), "add_queue_runner");
        auto at = detail::find(all, n);
        if (at == all.end()) at = all.insert(all.end(), n);
        op.threads += (op.threads.empty() ? "" : " ") + std::to_string(at - all.begin());
    }
    all.push_back(close.node());
    all.push_back(cancel.node());
    const graph g(*close.node()->owner);
    const region_scope outside(nullptr);
    const auto* note = add_node(g, make_op(std::move(op)), {}, {}, false, where, std::move(all));
    g.add_to_collection(collections::queue_runners, {note, 0});
}

RILL_COLD std::vector<queue_runner_note> queue_runners_of(const graph& g) {
    std::vector<queue_runner_note> all;
    for (const auto& e : g.collection(collections::queue_runners)) {
        queue_runner_note note{e.from->name};
        const auto& ops = e.from->control_inputs;
        if (e.from->op->name() != queue_runner_op::name || ops.size() < 3)
            throw invalid_argument("start_queue_runners: '" + e.from->name + "' is not a queue runner");
        std::istringstream threads(static_cast<const queue_runner_op*>(e.from->op->attributes())->threads);
        for (std::size_t k = 0; threads >> k;)
            if (k + 2 < ops.size()) note.enqueue.push_back(ops[k]);
        note.close = ops[ops.size() - 2];
        note.cancel = ops[ops.size() - 1];
        all.push_back(std::move(note));
    }
    return all;
}

}}} // namespace rill::RILL_ABI::detail
#endif
