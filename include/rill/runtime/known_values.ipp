// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/runtime/known_values.hpp>

#include <algorithm>
#include <cstdint>
#include <utility>

#include <rill/device/registry.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

RILL_COLD const any_array* known_values::find(subgraph::value v) {
    v = source(v);
    std::vector<int> asked; // not by recursion: what leads to a value may be as long as a graph
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
            else if (!told(from))
                break;
        }
        if (wait) continue;
        values_.emplace(at, possible ? work_out(at) : std::vector<any_array>());
        asked.pop_back();
    }
    return told(v);
}

RILL_COLD const std::vector<any_array>* known_values::of_item(int item) const {
    const auto at = values_.find(item);
    return at == values_.end() || at->second.empty() ? nullptr : &at->second;
}

RILL_COLD const any_array* known_values::told(subgraph::value v) const {
    if (const auto& op = graph_.items[v.item].op; op && op->constant()) return op->constant();
    const auto* all = of_item(v.item);
    return all ? &(*all)[v.port] : nullptr;
}

RILL_COLD bool known_values::decided(const subgraph::value& v) const { return told(v) || values_.contains(v.item); }

RILL_COLD subgraph::value known_values::source(subgraph::value v) const {
    while (graph_.items[v.item].is_copy())
        v = graph_.items[v.item].inputs[0]; // to another memory: the value is the same
    return v;
}

RILL_COLD bool known_values::may_be_known(int item) const {
    constexpr index_t small = 1024; // elements: many more than a shape has
    const auto& it = graph_.items[item];
    return it.op && graph_.role(item) == op_role::ordinary && !it.op->stateful() && !it.op->regions() &&
           !it.is_write() && !it.inputs.empty() &&
           std::ranges::all_of(types_[item], [](const tensor_type& t) { return t.shape.size() <= small; });
}

RILL_COLD std::vector<any_array> known_values::work_out(int item) const {
    const auto& it = graph_.items[item];
    std::vector<tensor_type> in;
    std::vector<void*> slots;
    bool known = true;
    for (const auto& v : it.inputs) {
        in.push_back(types_[v.item][v.port]);
        const auto* value = told(source(v));
        known = known && value;
        slots.push_back(value ? const_cast<void*>(value->data()) : nullptr);
    }
    if (auto value = it.op->known(in); !value.empty()) return {std::move(value)};
    if (!known) return {};
    const auto& out = types_[item];
    const auto factory = find_kernel(cpu_device().name, it.op->kernel_name(), it.op->kernel_type(in, out));
    if (!factory) return {};
    try {
        kernel_request request{in, out};
        const kernel run = (*factory)(it.op->attributes(), request);
        std::vector<any_array> made;
        for (const auto& t : out) slots.push_back(made.emplace_back(t.type, t.shape).mutable_data());
        const memory_block scratch(default_allocator(), request.scratch_bytes);
        slots.push_back(scratch.data());
        std::vector<std::int32_t> numbers;
        for (std::size_t k = 0; k < slots.size(); ++k) numbers.push_back(static_cast<std::int32_t>(k));
        const step_context context;
        run({slots.data(), numbers.data(), numbers.data() + in.size(), numbers.data() + in.size() + out.size(),
             &context});
        return made;
    } catch (const error& problem) {
        throw_error(problem.code(), it.op->label() + ": " + problem.what() + " (" + place_of(*it.origin) + ")");
    }
}

}}} // namespace rill::RILL_ABI::detail
