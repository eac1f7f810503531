// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <source_location>
#include <string>
#include <utility>
#include <vector>

#include <rill/ops/array/gradient_rows.hpp>
#include <rill/ops/control/cond.hpp>
#include <rill/ops/sync/replica_gradients_put.hpp>
#include <rill/ops/sync/replica_gradients_take.hpp>
#include <rill/ops/sync/round_arrive.hpp>
#include <rill/ops/sync/round_begin.hpp>
#include <rill/ops/sync/round_dropped.hpp>
#include <rill/ops/sync/round_end.hpp>
#include <rill/ops/sync/round_leave.hpp>
#include <rill/ops/sync/round_reset.hpp>
#include <rill/train/optimizer.hpp>
#include <rill/train/replica_index.hpp>

namespace rill { inline namespace RILL_ABI {

/// The order in which the gradients of replicas are added.
enum class sync_order {
    by_replica, // results do not depend on who is first; a variable keeps a gradient per replica
    by_arrival  // one sum per variable, unless the options say same_workers
};

struct sync_replicas_options {
    int replicas_to_aggregate = 1; // gradients per step
    int total_replicas = 0;        // the others are backups; 0: as many as are aggregated
    sync_order order = sync_order::by_replica;
    bool same_workers = false; // by arrival: all variables use the gradients of the same replicas
    replica_index replica = {};
};

namespace detail {

/// Throws invalid_argument unless a round can complete.
round_traits checked_round(const sync_replicas_options& how, const std::source_location& where);

/// The pairs whose variables lie on one device.
struct device_group {
    std::string device;
    std::vector<std::size_t> pairs;
};
/// Returns the groups of pairs, in order of first appearance.
std::vector<device_group> grouped_by_device(const std::vector<gradient_and_variable>& pairs);

/// A scope that resets the name prefix to the one outside of `sync_replicas`. An optimizer's variables keep the names that they have
/// without it.
class prefix_scope : scoped<std::string> {
public:
    explicit prefix_scope(const std::string& prefix) : scoped(scopes().prefix, prefix) {}
};

/// The place that collects the gradients of one variable.
struct gradient_store {
    any_tensor handle, variable;
    replica_gradients_traits traits;
};

} // namespace detail

/// An optimizer whose step uses the gradients of several replicas: see sync_replicas.
template <class Optimizer>
class sync_replicas_optimizer : public detail::minimizer<sync_replicas_optimizer<Optimizer>> {
public:
    sync_replicas_optimizer(const Optimizer& inner, const sync_replicas_options& how, const std::source_location& where)
        : inner_(inner), how_(how), round_(detail::checked_round(how, where)) {}

    /// Returns the operation of minimize. It computes the gradients of a loss. It waits until the variables are updated by the mean of the
    /// gradients of this replica and others. Every replica runs the operation of an equal graph, or all of them run the same one.
    template <graph_operand Loss>
    operation minimize_by(const Loss& loss, const minimize_options& how, const std::source_location& where) const {
        const auto pairs = detail::gradients_of(loss, how, where);
        if constexpr (typed_operand<Loss>)
            return add_round<value_type_of<Loss>>(pairs, detail::seal(loss), how.step, where);
        else
            return add_round<float, double>(pairs, detail::seal(loss), how.step, where);
    }
    /// Returns the gradients of this replica, as the inner optimizer does: the first half of minimize.
    template <graph_operand Loss>
    std::vector<gradient_and_variable>
    compute_gradients(const Loss& loss, std::vector<any_tensor> variables = {},
                      const std::source_location& where = std::source_location::current()) const {
        return inner_.compute_gradients(loss, std::move(variables), where);
    }
    /// Adds the second half of minimize, for gradients that were changed in between. Variables are float32 or float64.
    operation apply_gradients(const std::vector<gradient_and_variable>& pairs,
                              const std::source_location& where = std::source_location::current()) const {
        return apply_gradients(pairs, step_counter(), where);
    }
    /// Increments a step counter with each update as well.
    operation apply_gradients(const std::vector<gradient_and_variable>& pairs, const step_counter& global_step,
                              const std::source_location& where = std::source_location::current()) const {
        const auto given = detail::checked_pairs(pairs, {dtype::float32, dtype::float64}, where);
        return add_round<float, double>(given, given[0].gradient.end(), global_step, where);
    }

    /// Returns the number of runs whose gradients were dropped: they were stale, or came from a backup worker. Throws failed_precondition
    /// before minimize.
    tensor<std::int64_t> num_dropped() const {
        check_made("num_dropped");
        return {detail::unchecked, made_->dropped};
    }
    /// Returns an operation that this replica runs at its end, so that no other waits for it. If fewer than replicas_to_aggregate remain,
    /// their steps throw out_of_range. A monitored_session runs it by itself. Throws failed_precondition before minimize.
    operation leave() const {
        check_made("leave");
        return operation(made_->leave);
    }

private:
    /// The nodes of the last minimize. Copies of the optimizer share them.
    struct made_nodes {
        any_tensor dropped, leave;
    };

    void check_made(const char* who) const {
        if (!made_->leave)
            throw failed_precondition(std::string("sync_replicas::") + who + ": minimize has not been called");
    }

    /// Adds the nodes of a run. The device of `numbered_by` may tell the number of the replica.
    template <class... T>
    operation add_round(const std::vector<gradient_and_variable>& pairs, const endpoint& numbered_by,
                        const step_counter& counted_in, const std::source_location& where) const {
        const graph_scope here(pairs[0].variable.graph());
        const std::string outside = detail::scopes().prefix;
        const name_scope scope("sync_replicas");
        const any_tensor& counter = counted_in.variable_handle();
        const any_tensor anchor = counter ? counter : pairs[0].variable; // the nodes of the round are colocated with it
        const auto [handle, number] = [&] {
            const colocate_with beside(anchor);
            sync_round_op op;
            op.traits = round_;
            return std::pair(detail::add_resource(std::move(op), {}, "round", where),
                             how_.replica.of(numbered_by, round_.total, "sync_replicas", where));
        }();
        const auto at_round = [&](const auto& op, const auto&... more) {
            const colocate_with beside(anchor);
            return apply_node(op, where, handle, more...);
        };
        const any_tensor step = at_round(round_begin_op{}, number);
        const any_tensor id(endpoint{step.node(), 1});

        std::vector<const node*> puts;
        const auto stores = keep_gradients<T...>(pairs, step, id, puts, where);
        const auto [leads, ids] = [&] {
            const detail::control_scope after(puts);
            round_arrive_op op;
            op.count = round_.aggregate;
            const any_tensor arrived = at_round(op, step, id);
            return std::pair(arrived, any_tensor(endpoint{arrived.node(), 1}));
        }();

        const auto groups = detail::grouped_by_device(pairs);
        const bool at_once = groups.size() == 1 && (!counter || requested_device(*counter.node()) == groups[0].device);
        std::vector<const node*> done;
        for (const auto& g : groups) {
            const colocate_with beside(stores[g.pairs[0]].variable);
            done.push_back(cond(
                               leads,
                               [&] {
                                   const operation updated = update<T...>(stores, g.pairs, step, ids, outside, where);
                                   if (at_once) detail::counted(updated, counted_in, where);
                               },
                               [] {}, where)
                               .node());
        }
        if (!at_once && counter) {
            const colocate_with beside(counter);
            const detail::control_scope after(done);
            done.push_back(cond(leads, [&] { detail::counted(no_op(), counted_in, where); }, [] {}, where).node());
        }
        const auto train = [&] {
            const detail::control_scope after(done);
            return group(operation(at_round(round_end_op{}, step, leads, number).node()));
        }();
        round_reset_op closes;
        closes.closes = true;
        const any_tensor left = at_round(round_leave_op{}, number), closed = at_round(closes),
                         reset = at_round(round_reset_op{});
        *made_ = {at_round(round_dropped_op{}), left};
        if (!how_.replica.is_tensor()) // otherwise the caller of the step feeds the index
            current_graph().add_to_collection(collections::replica_leaves, left.end());
        current_graph().add_to_collection(collections::round_closes, closed.end());
        current_graph().add_to_collection(collections::round_resets, reset.end());
        return train;
    }

    /// Adds a node of an op with kernels for the variables' types.
    template <class... T, class Op>
    static const node* add_node(Op op, endpoint_list inputs, const std::source_location& where) {
        (require_kernel<Op, T>(), ...);
        return detail::add_node(current_graph(), make_op(std::move(op)), std::move(inputs), {}, false, where);
    }

    /// Adds the nodes that store the gradients of a run next to their variables.
    template <class... T>
    std::vector<detail::gradient_store>
    keep_gradients(const std::vector<gradient_and_variable>& pairs, const any_tensor& step, const any_tensor& id,
                   std::vector<const node*>& puts, const std::source_location& where) const {
        std::vector<detail::gradient_store> stores;
        for (const auto& p : pairs) {
            const auto rows =
                detail::is_rows(p.gradient.end()) ? detail::rows_of(p.gradient.end()).flat() : detail::gradient_rows();
            const colocate_with beside(p.variable);
            replica_gradients_op op;
            op.traits = {type_of(p.variable.end()), rows ? type_of(rows.ids).type : dtype::invalid,
                         how_.order == sync_order::by_arrival && !how_.same_workers && !rows};
            stores.push_back({{}, p.variable, op.traits});
            const auto& handle = stores.back().handle =
                detail::add_resource(std::move(op), {}, p.variable.node()->name, where);
            endpoint_list inputs{handle.end(), step.end(), id.end(), rows ? rows.slices : p.gradient.end()};
            if (rows) inputs.push_back(rows.ids);
            puts.push_back(add_node<T...>(replica_gradients_put_op{}, std::move(inputs), where));
        }
        return stores;
    }

    /// Adds the update of the variables of one device by the mean of their gradients.
    template <class... T>
    operation update(const std::vector<detail::gradient_store>& stores, const std::vector<std::size_t>& which,
                     const any_tensor& step, const any_tensor& ids, const std::string& names,
                     const std::source_location& where) const {
        const detail::prefix_scope outside(names);
        std::vector<gradient_and_variable> means;
        for (const auto i : which) {
            const auto& s = stores[i];
            replica_gradients_take_op op;
            op.traits = s.traits;
            const node* mean = add_node<T...>(std::move(op), {s.handle.end(), step.end(), ids.end()}, where);
            if (s.traits.is_rows())
                means.push_back({detail::gradient_rows{{mean, 0}, {mean, 1}, s.variable.end()}.whole(), s.variable});
            else
                means.push_back({endpoint{mean, 0}, s.variable});
        }
        if constexpr (sizeof...(T) == 1)
            return inner_.template apply_gradients<T...>(means, where);
        else
            return inner_.apply_gradients(means, where);
    }

    Optimizer inner_;
    sync_replicas_options how_;
    detail::round_traits round_;
    std::shared_ptr<made_nodes> made_ = std::make_shared<made_nodes>();
};

/// Returns an optimizer for synchronous training: a step updates the variables by the mean of the gradients of `replicas_to_aggregate`
/// replicas. Each replica computes its gradients from the same variables. Gradients that come too late are dropped and counted. Without
/// backups, results equal those of a single process that computes the same gradients, bit for bit.
///
///     const auto sync = sync_replicas(adam(), {.replicas_to_aggregate = 2, .total_replicas = 3});
///     const operation train = sync.minimize(loss, global_step);   // every replica runs it, in a session or thread of its own
///
/// Throws invalid_argument unless 1 <= replicas_to_aggregate <= total_replicas.
template <class Optimizer>
sync_replicas_optimizer<Optimizer> sync_replicas(const Optimizer& inner, const sync_replicas_options& how = {},
                                                 const std::source_location& where = std::source_location::current()) {
    return {inner, how, where};
}

}} // namespace rill::RILL_ABI

#if !RILL_COMPILED
#include <rill/train/sync_replicas.ipp>
#endif
