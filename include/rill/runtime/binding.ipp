// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/runtime/binding.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <rill/graph/graph.hpp>
#include <rill/runtime/memory_plan.hpp>

namespace rill::inline RILL_ABI::detail {

RILL_INLINE const tensor_type& bound_graph::type_of(const subgraph::value& v) const {
    return types[static_cast<std::size_t>(v.item)][static_cast<std::size_t>(v.port)];
}

RILL_INLINE int bound_graph::slot_of(const subgraph::value& v) const {
    return value_slot[static_cast<std::size_t>(v.item)][static_cast<std::size_t>(v.port)];
}

RILL_INLINE bound_graph binder::bind(const subgraph& g, std::span<const tensor_type> feeds, resource_store& resources) {
    binder b;
    b.graph = g;
    b.infer(feeds);
    b.assign_slots(resources);
    b.bind_steps(resources);
    b.plan_memory();
    return std::move(static_cast<bound_graph&>(b));
}

RILL_INLINE void binder::infer(std::span<const tensor_type> feed_types) {
    for (std::size_t i = 0; i < graph.items.size(); ++i) {
        const auto& it = graph.items[i];
        if (it.feed >= 0) {
            types.push_back({feed_types[static_cast<std::size_t>(it.feed)]});
            continue;
        }
        std::vector<tensor_type> in;
        for (const auto& v : it.inputs) in.push_back(type_of(v));
        if (it.is_copy()) {
            types.push_back({in[0]});
            continue;
        }
        try {
            types.push_back(it.op->outputs(in));
        } catch (const error& problem) {
            std::string shapes;
            for (const auto& t : in) shapes += (shapes.empty() ? "" : ", ") + to_string(t);
            throw_error(problem.code(), it.op->label() + ": " + problem.what() + " (" + shapes + "; " +
                                            place_of(*it.origin) + ")");
        }
        for (const auto& t : types.back())
            if (t.shape.complete() && !t.countable())
                throw resource_exhausted(it.origin->op->label() + ": " + to_string(t) + " is more than memory can hold (" +
                                         place_of(*it.origin) + ")");
            else if (!t.shape.complete())
                throw unimplemented(it.op->label() + ": the shape " + to_string(t) + " depends on data (" +
                                    place_of(*it.origin) + ")");
    }
}

RILL_INLINE void binder::assign_slots(resource_store& resources) {
    value_slot.resize(graph.items.size());
    folded.assign(graph.items.size(), 0);
    for (std::size_t i = 0; i < graph.items.size(); ++i) {
        const auto& it = graph.items[i];
        const auto role = graph.role(static_cast<int>(i));
        if (it.origin && role == op_role::ordinary && !it.inputs.empty() && it.after.empty() && !it.op->stateful() &&
            it.op->writes() == 0)
            folded[i] = std::all_of(it.inputs.begin(), it.inputs.end(), [&](const auto& v) {
                return graph.role(v.item) == op_role::constant || folded[static_cast<std::size_t>(v.item)];
            });
        for (std::size_t port = 0; port < types[i].size(); ++port) {
            if (const int shared = aliased_slot(i, port); shared >= 0) {
                value_slot[i].push_back(shared);
                continue;
            }
            slot_value s;
            s.type = types[i][port];
            s.bytes = static_cast<std::size_t>(s.type.shape.size()) * size_of(s.type.type);
            using home = slot_value::home;
            if (it.feed >= 0) s.where = home::feed;
            else if (role == op_role::constant) s.where = home::constant;
            else if (role == op_role::variable) s.where = home::variable;
            else if (folded[i]) s.where = home::folded;
            else if (s.type.type == dtype::string) s.where = home::string;
            value_slot[i].push_back(static_cast<int>(slots.size()));
            slots.push_back(s);
        }
        if (it.feed >= 0) {
            feed_slots.resize(std::max(feed_slots.size(), static_cast<std::size_t>(it.feed) + 1));
            feed_slots[static_cast<std::size_t>(it.feed)] = value_slot[i][0];
        }
        if (role == op_role::variable) {
            variable_of_slot_.emplace(value_slot[i][0], static_cast<std::int32_t>(variables.size()));
            variables.push_back({resources.variable(it.origin), it.origin, value_slot[i][0], false});
        }
    }
}

RILL_INLINE int binder::aliased_slot(std::size_t i, std::size_t port) const {
    const auto& it = graph.items[i];
    if (!it.origin) return -1;
    if (static_cast<int>(port) < it.op->writes()) return slot_of(it.inputs[port]);
    if (port != 0 || it.op->alias() < 0) return -1;
    const int source = slot_of(it.inputs[static_cast<std::size_t>(it.op->alias())]);
    const auto where = slots[static_cast<std::size_t>(source)].where;
    // a variable may be written while the alias is in use: then the value is copied
    return where == slot_value::home::variable || folded[i] ? -1 : source;
}

RILL_INLINE bool binder::is_step(std::size_t i) const {
    const auto& it = graph.items[i];
    if (it.feed >= 0) return false;
    if (!it.origin) return true;
    if (it.op->role() != op_role::ordinary) return false;
    if (it.origin->outputs.empty()) return false; // control only
    const bool aliases = it.op->alias() >= 0 && it.op->writes() == 0 &&
                         slot_of({static_cast<int>(i), 0}) ==
                             slot_of(it.inputs[static_cast<std::size_t>(it.op->alias())]);
    return !aliases;
}

RILL_INLINE void binder::bind_steps(resource_store& resources) {
    for (std::size_t i = 0; i < graph.items.size(); ++i) {
        if (!is_step(i)) continue;
        const auto& it = graph.items[i];
        std::vector<tensor_type> in;
        for (const auto& v : it.inputs) in.push_back(type_of(v));
        kernel_request request{in, types[i]};
        request.pool = resources.pool();
        if (it.origin) {
            request.seed = it.op->seed() ? it.op->seed()
                                                 : hash_combine(it.origin->owner->seed(), hash_bytes(it.origin->name));
            request.counter = [&] { return resources.counter(it.origin); };
        }
        step s;
        s.item = static_cast<std::int32_t>(i);
        s.run = it.origin ? bind_kernel(*it.op, *it.origin, request) : copy_kernel(types[i][0]);
        s.inputs = static_cast<std::int32_t>(indices.size());
        for (const auto& v : it.inputs) indices.push_back(slot_of(v));
        s.outputs = static_cast<std::int32_t>(indices.size());
        for (const int o : value_slot[i]) indices.push_back(o);
        slot_value scratch;
        scratch.bytes = request.scratch_bytes;
        scratch.where = slot_value::home::scratch;
        indices.push_back(static_cast<std::int32_t>(slots.size()));
        slots.push_back(scratch);
        if (it.origin && it.op->writes() > 0) {
            s.writes = it.op->writes();
            s.initialises = it.op->initialises();
            s.first_write = static_cast<std::int32_t>(write_list.size());
            if (s.writes > most_writes) throw internal("an op that writes more than 8 variables");
            for (int w = 0; w < s.writes; ++w)
                write_list.push_back(variable_index(it.inputs[static_cast<std::size_t>(w)], *it.origin));
            // locked in one order, whatever the op's, so that concurrent steps can't block one another for ever
            std::sort(write_list.begin() + s.first_write, write_list.end(), [&](auto x, auto y) {
                return std::less<>()(variables[static_cast<std::size_t>(x)].state.get(),
                                     variables[static_cast<std::size_t>(y)].state.get());
            });
        }
        (folded[i] ? folded_steps : steps).push_back(std::move(s));
    }
    note_start_reads();
}

RILL_INLINE std::int32_t binder::variable_index(const subgraph::value& v, const node& writer) const {
    if (const auto at = variable_of_slot_.find(slot_of(v)); at != variable_of_slot_.end()) return at->second;
    throw invalid_argument(writer.op->label() + ": input '" + graph.name_of(v.item) + "' is no variable (" +
                           place_of(writer) + ")");
}

RILL_INLINE void binder::note_start_reads() {
    std::vector<char> written(slots.size());
    const auto read = [&](int slot) {
        if (const auto at = variable_of_slot_.find(slot); at != variable_of_slot_.end() && !written[static_cast<std::size_t>(slot)])
            variables[static_cast<std::size_t>(at->second)].read_at_start = true;
    };
    for (const auto& s : steps) {
        const auto& it = graph.items[static_cast<std::size_t>(s.item)];
        const bool gives_value = it.origin && it.op->initialises();
        for (std::size_t k = 0; k < it.inputs.size(); ++k)
            if (!(gives_value && k < static_cast<std::size_t>(s.writes))) read(slot_of(it.inputs[k]));
        for (int w = 0; w < s.writes; ++w)
            written[static_cast<std::size_t>(slot_of(it.inputs[static_cast<std::size_t>(w)]))] = 1;
    }
    for (const auto& f : graph.fetches) read(slot_of(f));
}

RILL_INLINE kernel binder::bind_kernel(const op& op, const node& n, kernel_request& request) {
    const auto type = op.kernel_type(request.inputs, request.outputs);
    const auto factory = the_kernels().factories.find(kernel_key(op.kernel_name(), type));
    if (!factory)
        throw unimplemented("no kernel of " + std::string(op.name()) + " for " + std::string(to_string(type)) +
                            " is in this program (" + place_of(n) +
                            "): call the typed function somewhere, or include <rill/all_kernels.hpp>");
    try {
        return (*factory)(op.attributes(), request);
    } catch (const error& problem) {
        throw_error(problem.code(), op.label() + ": " + problem.what() + " (" + place_of(n) + ")");
    }
}

RILL_INLINE kernel binder::copy_kernel(const tensor_type& t) {
    const auto type = t.type;
    const index_t n = t.shape.size();
    return kernel([=](const kernel_args& a) { copy_elements(type, a.in<void>(0), a.out<void>(0), n); });
}

RILL_INLINE void binder::plan_memory() {
    for (std::size_t k = 0; k < steps.size(); ++k) {
        const auto touch = [&](int slot) {
            auto& s = slots[static_cast<std::size_t>(slot)];
            if (s.first < 0) s.first = static_cast<int>(k);
            s.last = static_cast<int>(k);
        };
        const auto begin = static_cast<std::size_t>(steps[k].inputs);
        const auto end = static_cast<std::size_t>(steps[k].outputs) + value_slot[static_cast<std::size_t>(steps[k].item)].size() + 1;
        for (std::size_t j = begin; j < end; ++j) touch(indices[j]);
    }
    for (const auto& f : graph.fetches) slots[static_cast<std::size_t>(slot_of(f))].last = static_cast<int>(steps.size());
    reuse_inputs();
    std::vector<arena_value> values;
    std::vector<std::size_t> owner;
    for (std::size_t i = 0; i < slots.size(); ++i) {
        auto& s = slots[i];
        const bool in_arena = s.where == slot_value::home::arena || s.where == slot_value::home::scratch;
        if (!in_arena || s.bytes == 0 || s.first < 0 || s.in_place_of >= 0) continue;
        values.push_back({s.bytes, s.first, s.last, 0});
        owner.push_back(i);
    }
    std::vector<std::ptrdiff_t> change(steps.size() + 2);
    for (const auto& v : values) {
        change[static_cast<std::size_t>(v.first)] += static_cast<std::ptrdiff_t>(v.bytes);
        change[static_cast<std::size_t>(v.last) + 1] -= static_cast<std::ptrdiff_t>(v.bytes);
    }
    std::ptrdiff_t alive = 0;
    for (const auto c : change) lower_bound = std::max(lower_bound, static_cast<std::size_t>(alive += c));
    arena_bytes = plan_arena(values);
    offsets.assign(slots.size(), npos);
    for (std::size_t i = 0; i < values.size(); ++i) offsets[owner[i]] = values[i].offset;
    for (std::size_t i = 0; i < slots.size(); ++i)
        if (const int owner_slot = slots[i].in_place_of; owner_slot >= 0) offsets[i] = offsets[static_cast<std::size_t>(owner_slot)];
}

RILL_INLINE void binder::reuse_inputs() {
    for (std::size_t k = 0; k < steps.size(); ++k) {
        const auto& it = graph.items[static_cast<std::size_t>(steps[k].item)];
        if (!it.origin || !it.op->in_place()) continue;
        const int out = value_slot[static_cast<std::size_t>(steps[k].item)][0];
        auto& result = slots[static_cast<std::size_t>(out)];
        if (result.where != slot_value::home::arena || result.bytes == 0) continue;
        for (const auto& v : it.inputs) {
            const int in = slot_of(v);
            const auto& input = slots[static_cast<std::size_t>(in)];
            if (input.where != slot_value::home::arena || input.last != static_cast<int>(k) || input.first == static_cast<int>(k) ||
                type_of(v).shape != result.type.shape || size_of(type_of(v).type) != size_of(result.type.type))
                continue;
            // of a chain of results in one place, the first owns the memory and carries the lifetime of all
            result.in_place_of = input.in_place_of >= 0 ? input.in_place_of : in;
            slots[static_cast<std::size_t>(result.in_place_of)].last = result.last;
            break;
        }
    }
}

} // namespace rill::inline RILL_ABI::detail
