// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <rill/core/vector.hpp>
#include <rill/device/array_slots.hpp>
#include <rill/runtime/control_flow/bound_region.hpp>
#include <rill/runtime/control_flow/loop_state_buffers.hpp>
#include <rill/runtime/control_flow/loops/induction_variable.hpp>
#include <rill/runtime/region_kernel.hpp>
#include <rill/runtime/trace/step_recorder.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

/// A region kernel whose regions are bound to the types of their inputs.
class typed_region_kernel : public static_region_kernel {
public:
    typed_region_kernel(const subgraph::item& it, std::span<const tensor_type> inputs)
        : use_(*it.op->regions()), space_(it.memory()), inputs_(inputs.begin(), inputs.end()) {
        for (int i = 0; space_ && i < use_.operands; ++i)
            swapped_inputs_.push_back(!it.input_memory(static_cast<std::size_t>(i)));
        for (int i = 0; space_ && i < static_cast<int>(it.origin->outputs.size()); ++i)
            swapped_outputs_.push_back(!it.output_memory(i));
    }

    /// Binds the next body. Returns false if it binds dynamically.
    bool bind(const body& b, const body_plans& plans, std::span<const tensor_type> arguments) {
        const auto counted = plans.counted.find(&b);
        if (counted != plans.counted.end()) counter_ = counted->second;
        auto bound = bound_region::bind(counted != plans.counted.end() ? counter_->rest() : b, plans.at(b), arguments,
                                        inputs_, space_);
        if (bound) bodies_.push_back(std::move(*bound));
        return bound.has_value();
    }
    std::span<const bound_region> bodies() const { return {bodies_.data(), bodies_.size()}; }
    /// Returns the result types of each body.
    std::vector<std::vector<tensor_type>> results() const {
        std::vector<std::vector<tensor_type>> all;
        for (const auto& b : bodies_) all.push_back(b.types());
        return all;
    }

    std::vector<any_array> run_dynamic(std::span<const any_array> inputs, const step_context* context) const override {
        std::vector<any_array> outputs;
        for (std::size_t r = 0; r < outputs_.size(); ++r) outputs.push_back(array_in(output_space(r), outputs_[r]));
        array_slots slots(inputs, outputs);
        const auto own = make_memory();
        note_iterations(context, run(*own, slots.args(context)));
        return outputs;
    }
    void set_outputs(std::vector<tensor_type> outputs) { outputs_ = std::move(outputs); }

protected:
    /// Returns true if the operand lies in host memory, though the node computes in another one.
    bool is_swapped_input(std::size_t i) const { return i < swapped_inputs_.size() && swapped_inputs_[i] != 0; }
    /// Returns true if the output lies in host memory, though the node computes in another one.
    bool is_swapped_output(std::size_t r) const { return r < swapped_outputs_.size() && swapped_outputs_[r] != 0; }
    bool swaps() const {
        return detail::contains(swapped_inputs_, char(1)) || detail::contains(swapped_outputs_, char(1));
    }
    const memory_space* output_space(std::size_t r) const { return is_swapped_output(r) ? nullptr : space_; }

    static void check_cancellation(const kernel_args& args) {
        if (args.step) args.step->check();
    }

    region_attributes use_;
    const memory_space* space_; // memory of inputs and outputs, but for swapped ones; null: the host's
    std::vector<char> swapped_inputs_, swapped_outputs_;
    std::vector<tensor_type> inputs_, outputs_;
    std::vector<bound_region> bodies_;
    std::shared_ptr<const induction_variable> counter_; // a loop's induction variable; null if there is none
};

/// Runs one iteration of a loop: the body computes the next state from the current one. `run` runs the body, or starts its kernels.
template <class Run>
void advance(const bound_region& b, region_frame& m, loop_state_buffers& state, std::size_t parts,
             const kernel_args& args, const Run& run) {
    const auto next = [&](std::size_t i) { return state.next(i, args, b.updates(i)); };
    for (std::size_t i = 0; i < parts; ++i) {
        m.feed(i, state.at(i));
        if (!b.is_loop_invariant(i)) m.want(i, next(i));
    }
    run(m);
    for (std::size_t i = 0; i < parts; ++i)
        if (!b.is_loop_invariant(i)) m.deliver(i, next(i));
    for (std::size_t i = 0; i < parts; ++i)
        if (!b.is_loop_invariant(i)) state.set(i, next(i));
}

}}} // namespace rill::RILL_ABI::detail
