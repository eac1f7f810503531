// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/passes/constant_folder.hpp>

#include <algorithm>
#include <cstdint>
#include <utility>

#include <rill/core/algorithm.hpp>
#include <rill/device/array_slots.hpp>
#include <rill/device/kernel_registry.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

RILL_COLD bool may_be_folded(const op& made) {
    return made.role() == op_role::ordinary && !made.stateful() && !made.regions() && !made.flow() &&
           !made.has_dynamic_outputs() && !made.is_async() && made.writes().empty();
}

RILL_COLD const any_array* constant_folder::find(subgraph::value v) {
    v = source(v);
    std::vector<int> asked; // a stack, not recursion: the inputs of a value may form a chain as long as the graph
    if (!decided(v)) asked.push_back(v.item);
    while (!asked.empty()) {
        const int at = asked.back();
        const auto& inputs = graph_.items[at].inputs;
        const bool possible = may_be_known(at);
        bool wait = false;
        for (std::size_t k = 0; possible && !wait && k < inputs.size(); ++k) {
            const auto from = source(inputs[k]);
            wait = !decided(from);
            if (wait)
                asked.push_back(from.item);
            else if (!folded_value(from))
                break;
        }
        if (wait) continue;
        values_.try_emplace(at, possible ? fold_value(at) : std::vector<any_array>());
        asked.pop_back();
    }
    return folded_value(v);
}

RILL_COLD const std::vector<any_array>* constant_folder::of_item(int item) const {
    const auto at = values_.find(item);
    return at == values_.end() || at->second.empty() ? nullptr : &at->second;
}

RILL_COLD const any_array* constant_folder::folded_value(subgraph::value v) const {
    if (const auto& op = graph_.items[v.item].op; op && op->constant()) return op->constant();
    const auto* all = of_item(v.item);
    return all ? &(*all)[v.port] : nullptr;
}

RILL_COLD bool constant_folder::decided(const subgraph::value& v) const {
    return folded_value(v) || values_.contains(v.item);
}

RILL_COLD subgraph::value constant_folder::source(subgraph::value v) const {
    while (graph_.items[v.item].is_copy())
        v = graph_.items[v.item].inputs[0]; // a copy in another memory has the same value
    return v;
}

RILL_COLD bool constant_folder::may_be_known(int item) const {
    constexpr index_t small = 1024; // elements: many more than a shape has
    const auto& it = graph_.items[item];
    return it.op && may_be_folded(*it.op) && !it.inputs.empty() &&
           detail::all_of(types_[item], [](const tensor_type& t) { return t.shape.size() <= small; });
}

RILL_COLD std::vector<any_array> constant_folder::fold_value(int item) const {
    const auto& it = graph_.items[item];
    std::vector<tensor_type> in;
    array_slots slots;
    bool known = true;
    for (const auto& v : it.inputs) {
        in.push_back(types_[v.item][v.port]);
        const auto* value = folded_value(source(v));
        known = known && value;
        slots.input(value ? value->data() : nullptr);
    }
    if (auto value = it.op->known(in); !value.empty()) return {std::move(value)};
    if (!known) return {};
    const auto& out = types_[item];
    const auto factory = find_kernel(cpu_device().name, it.op->kernel_name(), it.op->kernel_type(in, out));
    if (!factory) return {};
    try {
        kernel_request request{in, out};
        const kernel run = (*factory)(it.op->attributes(), request);
        auto made = arrays_of(out);
        for (auto& m : made) slots.output(m.mutable_data());
        const memory_block scratch(default_allocator(), request.scratch_bytes);
        const step_context context;
        run(slots.args(&context, {.scratch = scratch.data()}));
        return made;
    } catch (const error& problem) {
        throw_error(problem.code(), error_at(*it.origin, it.op->label(), problem.what()));
    }
}

}}} // namespace rill::RILL_ABI::detail
