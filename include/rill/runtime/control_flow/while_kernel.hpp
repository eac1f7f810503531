// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include <rill/runtime/control_flow/loop_state_buffers.hpp>
#include <rill/runtime/control_flow/loops/induction_variable.hpp>
#include <rill/runtime/control_flow/stacked_outputs.hpp>
#include <rill/runtime/control_flow/typed_region_kernel.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

/// A kernel that runs a while loop: the condition's region, then the body's, until the condition is false.
class while_kernel final : public typed_region_kernel {
public:
    while_kernel(const subgraph::item& it, std::span<const tensor_type> inputs, allocator& from)
        : typed_region_kernel(it, inputs), allocator_(from) {}

    std::unique_ptr<static_region_kernel::memory> make_memory() const override {
        return std::make_unique<memory>(*this);
    }

    std::int64_t run(static_region_kernel::memory& own, const kernel_args& args) const override {
        return run(static_cast<memory&>(own), args, {});
    }

    /// Returns the final state, then the stacked outputs: the body's results beyond the state.
    std::vector<any_array> run_dynamic(std::span<const any_array> inputs, const step_context* context) const override {
        const auto parts = state_types().size();
        auto outputs = arrays_of(state_types(), space_);
        array_slots slots(inputs, outputs);
        vector<stacked_outputs> histories;
        for (auto r = parts; r < bodies_[1].types().size(); ++r)
            histories.emplace_back(bodies_[1].types()[r], allocator_, space_);
        memory own(*this);
        note_iterations(context, run(own, slots.args(context), histories));
        for (auto& h : histories) outputs.push_back(std::move(h).take());
        return outputs;
    }

private:
    struct memory : static_region_kernel::memory {
        explicit memory(const while_kernel& of)
            : condition(of.bodies_[0]), step(of.bodies_[1]), state(of.state_types(), of.allocator_, of.space_) {
            if (of.counter_) counter.emplace(*of.counter_);
        }
        region_frame condition, step;
        loop_state_buffers state;
        std::optional<induction_variable::run> counter;
    };

    std::int64_t run(memory& m, const kernel_args& args, std::span<stacked_outputs> histories) const {
        const body_runs steps(m.step, args);
        std::optional<body_runs> conditions;
        const auto parts = state_types().size();
        m.state.begin(args);
        if (m.counter) {
            m.counter->begin(args);
            m.state.set(counter_->part(), m.counter->value());
        } else {
            conditions.emplace(m.condition, args);
        }
        std::int64_t k = 0;
        try {
            for (; use_.most < 0 || k < use_.most; ++k) {
                look(args);
                if (!goes_on(m)) break;
                for (std::size_t h = 0; h < histories.size(); ++h) m.step.want(parts + h, histories[h].next());
                advance(bodies_[1], m.step, m.state, parts, args);
                for (std::size_t h = 0; h < histories.size(); ++h) m.step.deliver(parts + h, histories[h].keep());
            }
        } catch (...) {
            rethrow_from_iteration(k);
        }
        if (m.counter) m.state.set(counter_->part(), m.counter->last());
        m.state.end(args);
        return k;
    }

    bool goes_on(memory& m) const {
        if (m.counter) return m.counter->next();
        for (std::size_t i = 0; i < state_types().size(); ++i) m.condition.feed(i, m.state.at(i));
        m.condition.run();
        return *static_cast<const bool*>(m.condition.result(0));
    }

    std::span<const tensor_type> state_types() const {
        return std::span(inputs_).first(static_cast<std::size_t>(use_.operands));
    }

    allocator& allocator_;
};

}}} // namespace rill::RILL_ABI::detail
