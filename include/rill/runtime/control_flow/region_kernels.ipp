// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/runtime/control_flow/region_kernels.hpp>

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include <rill/core/algorithm.hpp>
#include <rill/core/shape_rules.hpp>
#include <rill/core/shared.hpp>
#include <rill/core/vector.hpp>
#include <rill/passes/split_into_stages.hpp>
#include <rill/runtime/absent_value.hpp>
#include <rill/runtime/control_flow/cond_kernel.hpp>
#include <rill/runtime/control_flow/dynamic_region_kernel.hpp>
#include <rill/runtime/control_flow/loop_kernel.hpp>
#include <rill/runtime/control_flow/loops/induction_variable.hpp>
#include <rill/runtime/control_flow/loops/scalar_while_kernel.hpp>
#include <rill/runtime/plan/plan.hpp>
#include <rill/runtime/tensor_list.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

/// Returns the memories of a body's arguments, captures and results.
inline edge_devices edges_of(const subgraph::item& it, const body& b) {
    edge_devices all;
    all.feeds.assign(b.arguments.size(), it.device);
    for (const int c : b.captured) all.feeds.push_back(it.input_device(static_cast<std::size_t>(c)));
    const bool is_condition =
        it.op->regions()->how == region_attributes::form::repeat && &b == &(*it.origin->bodies)[0];
    all.fetches = is_condition ? nullptr : it.device;
    return all;
}

RILL_COLD void compile_bodies(body_plans& into, const subgraph::item& it, const session_options& options,
                              const std::shared_ptr<resource_store>& resources,
                              const std::shared_ptr<placement>& where) {
    if (!it.origin || !it.origin->bodies) return;
    const auto compiled = [&](const body& b) {
        return detail::make_shared<plan>(plan_key_of(b), options, resources, where, edges_of(it, b));
    };
    for (const auto& b : *it.origin->bodies) into.of.try_emplace(&b, nullptr);
    if (auto counter = it.memory() ? nullptr : induction_variable::find(it)) { // the host counts
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

/// Returns true if all runs of the bodies have results of equal types: branches agree, and a loop's state keeps its
/// types.
inline bool keeps_extents(const region_attributes& use, const std::vector<std::vector<tensor_type>>& results,
                          std::span<const tensor_type> operands) {
    using form = region_attributes::form;
    if (use.how == form::call) return true;
    if (use.how != form::choose) {
        const auto state = operands.first(static_cast<std::size_t>(use.state()));
        return std::equal(state.begin(), state.end(), results.back().begin());
    }
    for (std::size_t r = 0; r < results[0].size(); ++r) {
        const tensor_type* one = nullptr;
        for (const auto& given : results) {
            if (given[r].type == dtype::invalid) continue; // an absent value
            if (one && *one != given[r]) return false;
            one = &given[r];
        }
    }
    return true;
}

/// Returns true if the bodies' results match the node's declared output shapes.
inline bool match_declared_types(const node& n, const std::vector<std::vector<tensor_type>>& results) {
    const auto& use = *n.op->regions();
    const bool branches = use.how == region_attributes::form::choose;
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
    using form = region_attributes::form;
    if (detail::any_of(inputs, [](const tensor_type& t) { return is_tensor_list(t) || is_absent(t); })) return {};
    if (detail::any_of(bodies, [&](const body& b) { return plans.at(b)->is_staged() || plans.at(b)->is_dataflow(); }))
        return {};
    std::shared_ptr<typed_region_kernel> made;
    std::vector<tensor_type> arguments(operands.begin(), operands.end());
    switch (use.how) {
    case form::choose: arguments.clear(); [[fallthrough]];
    case form::call: made = detail::make_shared<cond_kernel>(it, inputs); break;
    case form::repeat:
    case form::scan:
        made = detail::make_shared<loop_kernel>(it, inputs, memory);
        if (use.how == form::repeat) break;
        for (auto a = static_cast<std::size_t>(use.carried); a < operands.size(); ++a) {
            if (operands[a].shape.rank == 0) throw invalid_argument("an operand has no axis to go along");
            arguments[a].shape = rules::slice(operands[a].shape);
        }
        break;
    }
    const bool may_change = may_have_dynamic_shapes(*it.origin);
    try {
        for (const auto& b : bodies)
            if (!made->bind(b, plans, arguments)) return {};
    } catch (const error& problem) {
        // a body that does not run need not fit the inputs: a branch not taken, or the body of a loop without iterations
        if (may_change) return {};
        const bool runs_none = use.how == form::scan && static_cast<const loop_kernel&>(*made).most() == 0;
        if (!runs_none || problem.code() != error_code::invalid_argument) throw;
        std::vector<tensor_type> outputs(it.origin->outputs.begin(),
                                         it.origin->outputs.end()); // complete, as may_change is false
        made->set_outputs(outputs);
        return {std::move(outputs), std::move(made)};
    }
    const auto results = made->results();
    if (may_change && !keeps_extents(use, results, operands) && match_declared_types(*it.origin, results)) return {};
    auto outputs = it.op->outputs({inputs, {}, results});
    const bool on_host = !it.memory(); // loops over numbers are host code
    if (auto loop = on_host ? bind_scalar_loop(use, made->bodies(), inputs, outputs, memory) : nullptr)
        return {std::move(outputs), std::move(loop)};
    made->set_outputs(outputs);
    std::vector<int> changes;
    if (use.how == form::choose || use.how == form::call) changes = static_cast<const cond_kernel&>(*made).changes();
    return {std::move(outputs), std::move(made), std::move(changes)};
}

RILL_COLD region_binding bind_dynamic(const subgraph::item& it, std::span<const tensor_type> inputs,
                                      const body_plans& plans, allocator& memory) {
    auto bound = bind_region(it, inputs, plans, memory);
    return bound.step ? std::move(bound) : region_binding{.step = bind_dynamic_region(it, plans, memory)};
}

}}} // namespace rill::RILL_ABI::detail
