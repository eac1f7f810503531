// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <source_location>
#include <string>
#include <utility>
#include <vector>

#include <rill/ops/sync/clock_advance.hpp>
#include <rill/ops/sync/clock_leave.hpp>
#include <rill/train/optimizer.hpp>
#include <rill/train/replica_index.hpp>

namespace rill { inline namespace RILL_ABI {

struct bounded_staleness_options {
    int bound = 0;   // steps that a worker may be ahead of the slowest one
    int workers = 1; // the workers that train together
    replica_index worker = {};
};

namespace detail {

/// Throws invalid_argument for a bound below 0 or fewer than one worker.
staleness_traits checked_staleness(const bounded_staleness_options& how, const std::source_location& where);

} // namespace detail

/// An optimizer that limits how far its workers drift apart: see bounded_staleness.
template <class Optimizer>
class bounded_staleness_optimizer : public detail::minimizer<bounded_staleness_optimizer<Optimizer>> {
public:
    bounded_staleness_optimizer(const Optimizer& inner, const bounded_staleness_options& how,
                                const std::source_location& where)
        : inner_(inner), how_(how), clock_(detail::checked_staleness(how, where)) {}

    /// Returns the operation of minimize: it updates the variables as the inner optimizer does, and then waits while this worker is too far
    /// ahead. Every worker runs the operation of an equal graph, or all of them run the same one.
    template <graph_operand Loss>
    operation minimize_by(const Loss& loss, const minimize_options& how, const std::source_location& where) const {
        const endpoint numbered_by = detail::seal(loss); // before other nodes: its device tells the worker
        const auto pairs = detail::gradients_of(loss, how, where);
        const operation updated = [&] {
            if constexpr (typed_operand<Loss>)
                return detail::counted(inner_.template apply_gradients<value_type_of<Loss>>(pairs, where), how.step,
                                       where);
            else
                return detail::counted(inner_.apply_gradients(pairs, where), how.step, where);
        }();
        const graph_scope here(updated.graph());
        const name_scope scope("bounded_staleness");
        const any_tensor& counter = how.step.variable_handle();
        const colocate_with beside(counter ? counter : pairs[0].variable);
        staleness_clock_op op;
        op.traits = clock_;
        const any_tensor handle = detail::add_resource(std::move(op), {}, "clock", where),
                         number = how_.worker.of(numbered_by, clock_.workers, "bounded_staleness", where);
        const any_tensor left = apply_node(clock_leave_op{}, where, handle, number);
        *leave_ = left;
        if (!how_.worker.is_tensor()) // otherwise the caller of the step feeds the number
            current_graph().add_to_collection(collections::replica_leaves, left.end());
        const detail::control_scope after({updated.node()});
        return operation(apply_node(clock_advance_op{}, where, handle, number).node());
    }

    /// Returns an operation that this worker runs at its end, so that no other waits for it. A monitored_session runs it by itself. Throws
    /// failed_precondition before minimize.
    operation leave() const {
        if (!*leave_) throw failed_precondition("bounded_staleness::leave: minimize has not been called");
        return operation(*leave_);
    }

private:
    Optimizer inner_;
    bounded_staleness_options how_;
    detail::staleness_traits clock_;
    std::shared_ptr<any_tensor> leave_ = std::make_shared<any_tensor>(); // of the last minimize; copies share it
};

/// Returns an optimizer for asynchronous training with a bound: no worker is more than `bound` steps ahead of the slowest one. A step ends
/// once the next one may begin. With a bound of 0 all workers are within one step.
///
///     const operation train = bounded_staleness(adam(), {.bound = 3, .workers = 2}).minimize(loss, global_step);
///
/// Throws invalid_argument for a bound below 0 or fewer than one worker.
template <class Optimizer>
bounded_staleness_optimizer<Optimizer>
bounded_staleness(const Optimizer& inner, const bounded_staleness_options& how,
                  const std::source_location& where = std::source_location::current()) {
    return {inner, how, where};
}

}} // namespace rill::RILL_ABI

#if !RILL_COMPILED
#include <rill/train/bounded_staleness.ipp>
#endif
