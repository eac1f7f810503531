// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/runtime/control_flow/region_kernels.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <rill/core/algorithm.hpp>
#include <rill/core/shape_rules.hpp>
#include <rill/core/shared.hpp>
#include <rill/core/vector.hpp>
#include <rill/device/array_slots.hpp>
#include <rill/runtime/control_flow/bound_region.hpp>
#include <rill/passes/split_into_stages.hpp>
#include <rill/runtime/control_flow/stacked_outputs.hpp>
#include <rill/runtime/absent_value.hpp>
#include <rill/runtime/control_flow/loops/induction_variable.hpp>
#include <rill/runtime/control_flow/loops/number_while_kernel.hpp>
#include <rill/runtime/control_flow/dynamic_region_kernel.hpp>
#include <rill/runtime/plan/plan.hpp>
#include <rill/runtime/tensor_list.hpp>
#include <rill/runtime/control_flow/loops/scalar_while_kernel.hpp>
#include <rill/runtime/control_flow/loop_state_buffers.hpp>
#include <rill/runtime/trace/step_recorder.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

/// What a run of a body is.
RILL_COLD plan_key plan_key_of(const body& b) {
    plan_key key;
    for (const auto& r : b.results)
        if (r) key.fetches.push_back(r);
    key.targets = b.effects;
    key.feeds = b.arguments;
    key.feeds.insert(key.feeds.end(), b.captures.begin(), b.captures.end());
    key.within = b.of;
    key.raised = b.raised.get();
    return key;
}

RILL_COLD void compile_bodies(body_plans& into, const subgraph::item& it, const session_options& options,
                              const std::shared_ptr<resource_store>& resources, const device_type& otherwise) {
    if (!it.origin || !it.origin->bodies) return;
    const auto compiled = [&](const body& b) {
        return detail::make_shared<plan>(plan_key_of(b), options, resources, otherwise);
    };
    for (const auto& b : *it.origin->bodies) into.of.try_emplace(&b, nullptr);
    if (auto counter = induction_variable::find(it)) {
        const body& step = (*it.origin->bodies)[1];
        if (auto rest = compiled(counter->rest()); !rest->is_staged() && !rest->is_dataflow()) {
            into.of[&step] = std::move(rest);
            into.counted.try_emplace(&step, std::move(counter));
            if (may_have_dynamic_shapes(*it.origin)) into.whole.try_emplace(&step, compiled(step));
        }
    }
    for (const auto& b : *it.origin->bodies)
        if (auto& made = into.of[&b]; !made) made = compiled(b);
}

/// A step with bodies; each kind runs them in its own way.
class static_region_kernel_base : public static_region_kernel {
public:
    static_region_kernel_base(const subgraph::item& it, std::span<const tensor_type> inputs)
        : use_(*it.op->regions()), inputs_(inputs.begin(), inputs.end()) {}

    void bind(const body& b, const body_plans& plans, std::span<const tensor_type> arguments) {
        const auto counted = plans.counted.find(&b);
        if (counted != plans.counted.end()) counter_ = counted->second;
        bodies_.emplace_back(counted != plans.counted.end() ? counter_->rest() : b, plans.at(b), arguments, inputs_);
    }
    std::span<const bound_region> bodies() const { return {bodies_.data(), bodies_.size()}; }
    /// What each body gives.
    std::vector<std::vector<tensor_type>> results() const {
        std::vector<std::vector<tensor_type>> all;
        for (const auto& b : bodies_) all.push_back(b.types());
        return all;
    }

    std::vector<any_array> run_alone(std::span<const any_array> inputs, const step_context* context) const override {
        auto outputs = arrays_of(outputs_);
        array_slots slots(inputs, outputs);
        const auto own = make_memory();
        note_iterations(context, run(*own, slots.args(context)));
        return outputs;
    }
    void set_outputs(std::vector<tensor_type> outputs) { outputs_ = std::move(outputs); }

protected:
    static void look(const kernel_args& args) {
        if (args.step) args.step->check();
    }

    region_use use_;
    std::vector<tensor_type> inputs_, outputs_;
    std::vector<bound_region> bodies_;
    std::shared_ptr<const induction_variable> counter_; // of a loop
};

// ---- branches and calls --------------------------------------------------------------------------------------------------

class cond_kernel final : public static_region_kernel_base {
public:
    using static_region_kernel_base::static_region_kernel_base;

    std::unique_ptr<static_region_kernel::memory> make_memory() const override {
        auto made = std::make_unique<memory>();
        for (const auto& b : bodies_) made->bodies.emplace_back(b);
        return made;
    }

    std::int64_t run(static_region_kernel::memory& own, const kernel_args& args) const override {
        const std::size_t chosen = choice(args);
        const auto& b = bodies_[chosen];
        auto& m = static_cast<memory&>(own).bodies[chosen];
        const body_runs runs(m, args);
        for (std::size_t r = 0; r < b.types().size(); ++r)
            if (b.fetch(r) >= 0) m.want(r, args.out<void>(static_cast<int>(r)));
        for (std::size_t a = 0; a < b.of().arguments.size(); ++a) m.feed(a, args.in<void>(static_cast<int>(a)));
        m.run();
        for (std::size_t r = 0; r < b.types().size(); ++r)
            if (b.fetch(r) >= 0) m.deliver(r, args.out<void>(static_cast<int>(r)));
        return -1;
    }

    /// region_binding::changes: where all branches agree.
    std::vector<int> changes() const {
        std::vector<int> all;
        for (std::size_t r = 0; r < bodies_[0].types().size(); ++r) {
            const int over = bodies_[0].over(r);
            all.push_back(detail::all_of(bodies_, [&](const auto& b) { return b.over(r) == over; }) ? over : -1);
        }
        return all;
    }

private:
    struct memory : static_region_kernel::memory {
        vector<region_frame> bodies;
    };

    std::size_t choice(const kernel_args& args) const {
        if (use_.how == region_use::form::call) return 0;
        return chosen_body(any_array(inputs_[0].type, {}, args.in<void>(0), nullptr), bodies_.size());
    }
};

// ---- loops ---------------------------------------------------------------------------------------------------------------

/// One step of a loop: the body computes the state from itself.
inline void advance(const bound_region& b, region_frame& m, loop_state_buffers& state, std::size_t parts,
                    const kernel_args& args) {
    const auto next = [&](std::size_t i) { return state.next(i, args, b.updates(i)); };
    for (std::size_t i = 0; i < parts; ++i) {
        m.feed(i, state.at(i));
        if (!b.stays(i)) m.want(i, next(i));
    }
    m.run();
    for (std::size_t i = 0; i < parts; ++i)
        if (!b.stays(i)) m.deliver(i, next(i));
    for (std::size_t i = 0; i < parts; ++i)
        if (!b.stays(i)) state.set(i, next(i));
}

class while_kernel final : public static_region_kernel_base {
public:
    while_kernel(const subgraph::item& it, std::span<const tensor_type> inputs, allocator& from)
        : static_region_kernel_base(it, inputs), allocator_(from) {}

    std::unique_ptr<static_region_kernel::memory> make_memory() const override { return std::make_unique<memory>(*this); }

    std::int64_t run(static_region_kernel::memory& own, const kernel_args& args) const override {
        return run(static_cast<memory&>(own), args, {});
    }

    /// With the histories of values that the body gives beside the state.
    std::vector<any_array> run_alone(std::span<const any_array> inputs, const step_context* context) const override {
        const auto parts = state_types().size();
        auto outputs = arrays_of(state_types());
        array_slots slots(inputs, outputs);
        vector<history> histories;
        for (auto r = parts; r < bodies_[1].types().size(); ++r)
            histories.emplace_back(bodies_[1].types()[r], allocator_);
        memory own(*this);
        note_iterations(context, run(own, slots.args(context), histories));
        for (auto& h : histories) outputs.push_back(std::move(h).take());
        return outputs;
    }

private:
    struct memory : static_region_kernel::memory {
        explicit memory(const while_kernel& of)
            : condition(of.bodies_[0]), step(of.bodies_[1]), state(of.state_types(), of.allocator_) {
            if (of.counter_) counter.emplace(*of.counter_);
        }
        region_frame condition, step;
        loop_state_buffers state;
        std::optional<induction_variable::run> counter;
    };

    std::int64_t run(memory& m, const kernel_args& args, std::span<history> histories) const {
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

class scan_kernel final : public static_region_kernel_base {
public:
    scan_kernel(const subgraph::item& it, std::span<const tensor_type> inputs, allocator& from)
        : static_region_kernel_base(it, inputs), allocator_(from), length_(inputs[static_cast<std::size_t>(use_.carried)].shape[0]) {}

    std::unique_ptr<static_region_kernel::memory> make_memory() const override {
        return std::make_unique<memory>(bodies_[0], state_types(), allocator_);
    }

    std::int64_t run(static_region_kernel::memory& own, const kernel_args& args) const override {
        auto& m = static_cast<memory&>(own);
        const auto& b = bodies_[0];
        const body_runs runs(m.step, args);
        const auto carried = static_cast<std::size_t>(use_.carried);
        m.state.begin(args);
        std::int64_t k = 0;
        try {
            for (; k < length_; ++k) {
                look(args);
                const auto slice = static_cast<std::size_t>(use_.reverse ? length_ - 1 - k : k);
                for (auto a = carried; a < static_cast<std::size_t>(use_.operands); ++a)
                    m.step.feed(a, args.in<std::byte>(static_cast<int>(a)) + slice * slice_bytes(inputs_[a], 1));
                for (auto r = carried; r < b.types().size(); ++r) m.step.want(r, stacked(r, slice, args));
                advance(b, m.step, m.state, carried, args);
                for (auto r = carried; r < b.types().size(); ++r) m.step.deliver(r, stacked(r, slice, args));
            }
        } catch (...) {
            rethrow_from_iteration(k);
        }
        m.state.end(args);
        return length_;
    }

private:
    struct memory : static_region_kernel::memory {
        memory(const bound_region& b, std::span<const tensor_type> types, allocator& a) : step(b), state(types, a) {}
        region_frame step;
        loop_state_buffers state;
    };

    std::span<const tensor_type> state_types() const {
        return std::span(inputs_).first(static_cast<std::size_t>(use_.carried));
    }
    /// Of one slice along the first `axes` axes.
    static std::size_t slice_bytes(const tensor_type& t, int axes) {
        std::size_t bytes = size_of(t.type);
        for (int i = axes; i < t.shape.rank; ++i) bytes *= static_cast<std::size_t>(t.shape[i]);
        return bytes;
    }
    void* stacked(std::size_t result, std::size_t slice, const kernel_args& args) const {
        return args.out<std::byte>(static_cast<int>(result)) + slice * slice_bytes(bodies_[0].types()[result], 0);
    }

    allocator& allocator_;
    std::int64_t length_;
};

/// A scan over no slices whose body does not fit what came, as with extents that only an iteration would have told: the state stays.
class empty_scan_kernel final : public static_region_kernel_base {
public:
    using static_region_kernel_base::static_region_kernel_base;

    std::unique_ptr<static_region_kernel::memory> make_memory() const override {
        return std::make_unique<static_region_kernel::memory>();
    }
    std::int64_t run(static_region_kernel::memory&, const kernel_args& args) const override {
        for (int i = 0; i < use_.carried; ++i)
            if (void* const out = args.out<void>(i); out != args.in<void>(i))
                copy_elements(inputs_[i].type, args.in<void>(i), out, inputs_[i].shape.size());
        return 0;
    }
    /// What op::outputs is told that the body gives.
    std::vector<std::vector<tensor_type>> results(const body& b) const {
        std::vector<tensor_type> all(inputs_.begin(), inputs_.begin() + use_.carried);
        for (auto r = all.size(); r < b.results.size(); ++r) {
            auto& each = all.emplace_back(type_of(b.results[r]));
            for (int i = 0; i < each.shape.rank; ++i)
                if (each.shape[i] == dyn) each.shape[i] = 0;
        }
        return {std::move(all)};
    }
};

/// Whether any run of the bodies gives what this one does: all branches the same, a loop what it got.
inline bool keeps_extents(const region_use& use, const std::vector<std::vector<tensor_type>>& results,
                          std::span<const tensor_type> operands) {
    using form = region_use::form;
    if (use.how == form::call) return true;
    if (use.how != form::choose) {
        const auto state = operands.first(static_cast<std::size_t>(use.state()));
        return std::equal(state.begin(), state.end(), results.back().begin());
    }
    for (std::size_t r = 0; r < results[0].size(); ++r) {
        const tensor_type* one = nullptr;
        for (const auto& given : results) {
            if (given[r].type == dtype::invalid) continue; // it leaves that to others
            if (one && *one != given[r]) return false;
            one = &given[r];
        }
    }
    return true;
}

/// Whether that is what the node was said to give.
inline bool are_as_said(const node& n, const std::vector<std::vector<tensor_type>>& results) {
    const auto& use = *n.op->regions();
    const bool branches = use.how == region_use::form::choose;
    const auto count = branches ? n.outputs.size() : static_cast<std::size_t>(use.state());
    return std::all_of(branches ? results.begin() : results.end() - 1, results.end(), [&](const auto& given) {
        for (std::size_t r = 0; r < count; ++r)
            if (given[r].type != dtype::invalid && !rules::compatible(given[r].shape, n.outputs[r].shape)) return false;
        return true;
    });
}

RILL_COLD region_binding bind_region(const subgraph::item& it, std::span<const tensor_type> inputs,
                                   const body_plans& plans, allocator& memory) {
    const auto& use = *it.op->regions();
    const auto& bodies = *it.origin->bodies;
    const auto operands = inputs.first(static_cast<std::size_t>(use.operands));
    using form = region_use::form;
    if (detail::any_of(inputs, [](const tensor_type& t) { return is_tensor_list(t) || is_absent(t); }))
        throw dynamic_shape_found{};
    if (detail::any_of(bodies, [&](const body& b) { return plans.at(b)->is_staged() || plans.at(b)->is_dataflow(); }))
        throw dynamic_shape_found{};
    if (auto loop = bind_scalar_loop(it, inputs))
        return {{inputs.begin(), inputs.begin() + use.operands}, std::move(loop)};
    std::shared_ptr<static_region_kernel_base> made;
    std::vector<tensor_type> arguments(operands.begin(), operands.end());
    switch (use.how) {
    case form::choose: arguments.clear(); [[fallthrough]];
    case form::call: made = detail::make_shared<cond_kernel>(it, inputs); break;
    case form::repeat: made = detail::make_shared<while_kernel>(it, inputs, memory); break;
    case form::scan:
        made = detail::make_shared<scan_kernel>(it, inputs, memory);
        for (auto a = static_cast<std::size_t>(use.carried); a < operands.size(); ++a) {
            if (operands[a].shape.rank == 0) throw invalid_argument("an operand has no axis to go along");
            arguments[a].shape = rules::slice(operands[a].shape);
        }
        break;
    }
    const bool may_change = may_have_dynamic_shapes(*it.origin);
    try {
        for (const auto& b : bodies) made->bind(b, plans, arguments);
    } catch (const error&) {
        // what does not run need not fit what came: a branch that is not taken, the body of a loop that ends at once
        if (may_change) throw dynamic_shape_found{};
        if (use.how != form::scan || operands[use.carried].shape[0] != 0) throw;
        auto empty = detail::make_shared<empty_scan_kernel>(it, inputs);
        auto outputs = it.op->outputs({inputs, {}, empty->results(bodies[0])});
        empty->set_outputs(outputs);
        return {std::move(outputs), std::move(empty)};
    }
    const auto results = made->results();
    if (may_change && !keeps_extents(use, results, operands) && are_as_said(*it.origin, results)) throw dynamic_shape_found{};
    auto outputs = it.op->outputs({inputs, {}, results});
    if (auto loop = bind_number_loop(use, made->bodies(), inputs, outputs, memory))
        return {std::move(outputs), std::move(loop)};
    made->set_outputs(outputs);
    std::vector<int> changes;
    if (use.how == form::choose || use.how == form::call) changes = static_cast<const cond_kernel&>(*made).changes();
    return {std::move(outputs), std::move(made), std::move(changes)};
}

RILL_COLD region_binding bind_alone(const subgraph::item& it, std::span<const tensor_type> inputs,
                                  const body_plans& plans, allocator& memory) {
    try {
        return bind_region(it, inputs, plans, memory);
    } catch (const dynamic_shape_found&) {
        return {{}, bind_dynamic_region(it, plans, memory)};
    }
}

}}} // namespace rill::RILL_ABI::detail
