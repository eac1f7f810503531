// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/runtime/segment/binding.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <rill/core/algorithm.hpp>
#include <rill/core/hash_map.hpp>
#include <rill/core/vector.hpp>
#include <rill/graph/graph.hpp>
#include <rill/passes/fusion_groups.hpp>
#include <rill/runtime/dynamic_runtime.hpp>
#include <rill/runtime/segment/step_order.hpp>
#include <rill/runtime/segment/variable_reads.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

RILL_COLD bound_graph binder::bind(const subgraph& g, std::span<const tensor_type> feeds, resource_store& resources,
                                   const body_plans& bodies) {
    binder b;
    b.graph = g;
    b.control = bodies.control;
    b.infer(feeds, bodies, resources.memory());
    b.find_folded();
    b.find_fusion_groups();
    b.assign_slots(resources);
    b.bind_steps(resources);
    if (const auto& threads = resources.threads(); threads.pool) {
        for (const auto& c : b.costs_)
            b.microseconds += c.shared ? c.microseconds / threads.pool->threads() : c.microseconds;
        if (worth_branching(b.costs_, threads.lanes))
            b.parallel = find_parallel_regions(order_of_steps(b), b.costs_, threads.lanes);
    }
    plan_memory(b, b.may_share_);
    plan_variable_reads(b);
    return std::move(static_cast<bound_graph&>(b));
}

/// The constant input values of an item, for its shape rule.
class asked_values final : public input_values {
public:
    asked_values(constant_folder& known, const subgraph::item& at) : known_(known), at_(at) {}
    const any_array* value(std::size_t input) const override { return known_.find(at_.inputs[input]); }

private:
    constant_folder& known_;
    const subgraph::item& at_;
};

RILL_COLD void binder::infer(std::span<const tensor_type> feed_types, const body_plans& bodies, allocator& memory) {
    std::vector<tensor_type> in;
    for (std::size_t i = 0; i < graph.items.size(); ++i) {
        const auto& it = graph.items[i];
        if (it.feed >= 0) {
            types.push_back({feed_types[it.feed]});
            continue;
        }
        in.clear();
        for (const auto& v : it.inputs) in.push_back(type_of(v));
        if (it.is_copy()) {
            types.push_back({in[0]});
            continue;
        }
        try {
            const asked_values values(known_, it);
            if (it.origin->bodies) {
                auto bound = bodies.control->bind_region(it, in, bodies, memory);
                types.push_back(std::move(bound.outputs));
                changes.resize(i + 1);
                changes[i] = std::move(bound.changes);
                region_of_.try_emplace(static_cast<int>(i),
                                       std::static_pointer_cast<const static_region_kernel>(bound.step));
            } else {
                types.push_back(it.op->outputs({in, &values}));
            }
        } catch (const error& problem) {
            std::string shapes;
            for (const auto& t : in) shapes += (shapes.empty() ? "" : ", ") + to_string(t);
            throw_error(problem.code(),
                        it.op->label() + ": " + problem.what() + " (" + shapes + "; " + place_of(*it.origin) + ")");
        }
        for (const auto& t : types.back())
            if (t.shape.complete() && !t.countable())
                throw resource_exhausted(it.origin->op->label() + ": " + to_string(t) +
                                         " is more than memory can hold (" + place_of(*it.origin) + ")");
            else if (!t.shape.complete())
                throw unimplemented(it.op->label() + ": the shape " + to_string(t) + " depends on data (" +
                                    place_of(*it.origin) + ")");
    }
}

RILL_COLD const std::vector<any_array>* binder::known_value(std::size_t i) const {
    const auto& it = graph.items[i];
    return it.after.empty() && !it.memory() ? known_.of_item(static_cast<int>(i)) : nullptr;
}

RILL_COLD void binder::find_folded() {
    folded.assign(graph.items.size(), 0);
    for (std::size_t i = 0; i < graph.items.size(); ++i) {
        const auto& it = graph.items[i];
        const bool pure =
            it.is_copy() || (it.origin && !it.origin->bodies && graph.role(static_cast<int>(i)) == op_role::ordinary &&
                             !it.op->stateful() && !it.is_write());
        folded[i] = known_value(i) != nullptr;
        if (!folded[i] && pure && !it.inputs.empty() && it.after.empty())
            folded[i] = detail::all_of(
                it.inputs, [&](const auto& v) { return graph.role(v.item) == op_role::constant || folded[v.item]; });
    }
}

RILL_COLD void binder::find_fusion_groups() {
    chained.assign(graph.items.size(), -1);
    const auto first = detail::find_fusion_groups(graph, types, folded);
    for (std::size_t i = 0; i < first.size(); ++i) {
        if (first[i] == static_cast<int>(i)) continue;
        auto& number = chained[first[i]];
        if (number < 0) {
            number = static_cast<int>(chains.size());
            chains.push_back({{first[i]}, {}});
        }
        chains[number].items.push_back(static_cast<int>(i));
        chained[i] = number;
    }
    for (auto& c : chains)
        for (const int i : c.items) c.needed.emplace_back(types[i].size());
    // mark the results that items outside of the group read
    const auto need = [&](const subgraph::value& v, int reader_chain) {
        const int number = chained[v.item];
        if (number < 0 || number == reader_chain) return;
        auto& c = chains[number];
        c.needed[c.member_of(v.item)][v.port] = 1;
    };
    for (std::size_t i = 0; i < graph.items.size(); ++i)
        for (const auto& v : graph.items[i].inputs) need(v, chained[i]);
    for (const auto& v : graph.fetches) need(v, -1);
}

RILL_COLD void binder::assign_slots(resource_store& resources) {
    value_slot.resize(graph.items.size());
    for (std::size_t i = 0; i < graph.items.size(); ++i) {
        const auto& it = graph.items[i];
        const auto role = graph.role(static_cast<int>(i));
        for (std::size_t port = 0; port < types[i].size(); ++port) {
            if (const int shared = aliased_slot(i, port); shared >= 0) {
                value_slot[i].push_back(shared);
                continue;
            }
            slot_value s;
            s.type = types[i][port];
            s.bytes = s.type.bytes();
            s.space = it.memory();
            using home = slot_value::home;
            if (it.feed >= 0)
                s.where = home::feed;
            else if (role == op_role::constant)
                s.where = home::constant;
            else if (role == op_role::variable)
                s.where = home::variable;
            else if (folded[i])
                s.where = home::folded;
            else if (s.type.type == dtype::string)
                s.where = home::string;
            else if (stays_in_block(i, port))
                s.where = home::block;
            if (s.where == home::variable) {
                s.variable = static_cast<std::int32_t>(variables.size());
                slots.push_back(s); // of the old value, while a kernel writes the variable
            }
            value_slot[i].push_back(static_cast<int>(slots.size()));
            slots.push_back(s);
        }
        if (it.feed >= 0) {
            feed_slots.resize(std::max(feed_slots.size(), static_cast<std::size_t>(it.feed) + 1));
            feed_slots[it.feed] = value_slot[i][0];
        }
        if (role == op_role::variable)
            variables.push_back({resources.variable(it.origin, it.memory()), it.origin, value_slot[i][0]});
    }
}

RILL_COLD int binder::aliased_slot(std::size_t i, std::size_t port) const {
    const auto& it = graph.items[i];
    if (!it.origin) return -1;
    if (port != 0 || it.op->alias() < 0) return -1;
    if (it.gives_written(0)) return slot_of(it.inputs[it.op->alias()]);
    const int source = slot_of(it.inputs[it.op->alias()]);
    const auto where = slots[source].where;
    // a variable may be written while the alias is in use, so the value is copied
    return where == slot_value::home::variable || folded[i] ? -1 : source;
}

RILL_COLD bool binder::stays_in_block(std::size_t i, std::size_t port) const {
    if (chained[i] < 0) return false;
    const auto& c = chains[chained[i]];
    return !c.needed[c.member_of(static_cast<int>(i))][port];
}

RILL_COLD bool binder::is_step(std::size_t i) const {
    const auto& it = graph.items[i];
    if (it.feed >= 0) return false;
    if (!it.origin) return true;
    if (it.op->role() != op_role::ordinary && it.op->role() != op_role::resource) return false;
    if (known_value(i)) return false;
    const bool aliases = it.op->alias() >= 0 && !it.is_write() &&
                         slot_of({static_cast<int>(i), 0}) == slot_of(it.inputs[it.op->alias()]);
    return !aliases;
}

RILL_COLD void binder::bind_steps(resource_store& resources) {
    for (std::size_t i = 0; i < graph.items.size(); ++i) {
        if (chained[i] >= 0) {
            const auto& c = chains[chained[i]];
            if (c.items[0] == static_cast<int>(i)) bind_fusion_group(c, resources);
            continue;
        }
        if (const auto* known = known_value(i))
            for (std::size_t port = 0; port < known->size(); ++port)
                folded_values.push_back({value_slot[i][port], (*known)[port]});
        if (!is_step(i)) continue;
        const auto& it = graph.items[i];
        std::vector<tensor_type> in;
        for (const auto& v : it.inputs) in.push_back(type_of(v));
        kernel_request request{in, types[i]};
        if (it.origin) resources.answer(request, *it.op, *it.origin);
        step s;
        s.item = static_cast<std::int32_t>(i);
        if (const auto bodies = region_of_.find(static_cast<int>(i)); bodies != region_of_.end()) {
            s.region = static_cast<std::int32_t>(regions.size());
            s.plain = false;
            regions.push_back(bodies->second);
        } else {
            s.run = it.origin ? bind_kernel(it, request) : copy_kernel(it);
        }
        if (it.origin && it.is_write()) {
            s.plain = false;
            if (it.op->initialises() || s.region >= 0) // bodies check for a value at run time
                s.how = variable_write::initialises;
            else if (it.op->replaces_variables())
                s.how = variable_write::replaces;
            s.first_write = static_cast<std::int32_t>(write_list.size());
            for (const int w : it.op->writes()) {
                const auto& written = it.inputs[w];
                write_list.push_back({variable_index(written, *it.origin), true});
                for (std::size_t k = 0; k < it.inputs.size(); ++k) // an op that also reads it needs a value
                    if (s.how == variable_write::initialises && !it.writes(k) &&
                        slot_of(it.inputs[k]) == slot_of(written))
                        s.how = variable_write::replaces;
            }
            s.writes = static_cast<std::int32_t>(write_list.size()) - s.first_write;
            // lock in one order for all ops, so that concurrent steps can't deadlock
            std::sort(write_list.begin() + s.first_write, write_list.end(), [&](const auto& x, const auto& y) {
                return std::less<>()(variables[x.variable].state.get(), variables[y.variable].state.get());
            });
        }
        if (it.origin && it.op->in_place() && !it.is_write())
            for (const auto& v : it.inputs) may_share_.push_back({steps.size(), v, {s.item, 0}});
        for (int port = 0; port < static_cast<int>(types[i].size()); ++port)
            if (const int from = changed_input({s.item, port}); from >= 0)
                may_share_.push_back({steps.size(), it.inputs[from], {s.item, port}});
        add_step(std::move(s), it.inputs, value_slot[i], request, folded[i] != 0);
    }
}

RILL_COLD void binder::bind_fusion_group(const chain& c, resource_store& resources) {
    fusion_group members;
    vector<subgraph::value> inputs;
    hash_map<std::pair<int, int>, std::size_t> number_of; // the number of an input
    hash_map<int, std::size_t> last_reader;               // per slot, as aliases are several inputs in one slot
    std::vector<tensor_type> in, out;
    std::vector<const any_array*> constants;
    std::vector<int> outputs;
    for (std::size_t k = 0; k < c.items.size(); ++k) {
        const auto i = static_cast<std::size_t>(c.items[k]);
        const auto& it = graph.items[i];
        auto& member = members.members.emplace_back();
        member.spec = it.op->fused();
        for (const auto& v : it.inputs) {
            if (chained[v.item] == chained[i]) {
                member.inputs.push_back({static_cast<int>(c.member_of(v.item)), v.port});
                continue;
            }
            const auto [known, fresh] = number_of.try_emplace({v.item, v.port}, inputs.size());
            if (fresh) {
                inputs.push_back(v);
                in.push_back(type_of(v));
                const auto& from = graph.items[v.item].op;
                constants.push_back(from ? from->constant() : nullptr);
            }
            last_reader[slot_of(v)] = k;
            member.inputs.push_back({-1, static_cast<int>(known->second)});
        }
        for (std::size_t port = 0; port < types[i].size(); ++port) {
            member.results.push_back(c.needed[k][port] ? static_cast<int>(outputs.size()) : -1);
            if (!c.needed[k][port]) continue;
            outputs.push_back(value_slot[i][port]);
            out.push_back(types[i][port]);
        }
    }
    // results are written block by block: none may overwrite an input that a later member reads
    for (std::size_t k = 0; k < c.items.size(); ++k)
        if (graph.items[c.items[k]].op->in_place() && c.needed[k][0] && types[c.items[k]][0].shape.size() > 1)
            for (const auto& v : inputs)
                if (last_reader.at(slot_of(v)) <= k) may_share_.push_back({steps.size(), v, {c.items[k], 0}});
    kernel_request request{in, out, constants};
    request.pool = resources.threads().for_ops();
    step s;
    s.item = c.items.back();
    const auto& where = device_of(graph.items[c.items[0]]);
    const auto chain_kernel = find_kernel(where.name, fusion_group::name, dtype::invalid);
    if (!chain_kernel) throw internal("no kernel of fusion groups for device " + where.name);
    s.run = (*chain_kernel)(&members, request);
    add_step(std::move(s), inputs, outputs, request, false);
}

RILL_COLD void binder::add_step(step s, std::span<const subgraph::value> inputs, std::span<const int> outputs,
                                const kernel_request& request, bool is_folded) {
    s.inputs = static_cast<std::int32_t>(indices.size());
    for (const auto& v : inputs) {
        const int slot = slot_of(v);
        indices.push_back(writes_variable(s, slots[slot].variable) ? slot - 1 : slot);
    }
    s.outputs = static_cast<std::int32_t>(indices.size());
    indices.insert(indices.end(), outputs.begin(), outputs.end());
    slot_value scratch;
    scratch.bytes = request.scratch_bytes;
    scratch.where = slot_value::home::scratch;
    const auto& runs_on = device_of(graph.items[s.item]);
    scratch.space = runs_on.host_memory ? nullptr : &runs_on;
    indices.push_back(static_cast<std::int32_t>(slots.size()));
    slots.push_back(scratch);
    s.end = static_cast<std::int32_t>(indices.size());
    if (is_folded) return folded_steps.push_back(std::move(s));
    double bytes = std::max(request.moved_bytes, 0.);
    if (request.moved_bytes < 0)
        for (auto k = s.inputs; k < s.end; ++k) bytes += static_cast<double>(slots[indices[k]].bytes);
    costs_.push_back({std::max(request.microseconds, 0.05 + bytes * 1e-4), request.shared});
    steps.push_back(std::move(s));
}

RILL_COLD std::int32_t binder::variable_index(const subgraph::value& v, const node& writer) const {
    if (const auto at = slots[slot_of(v)].variable; at >= 0) return at;
    throw invalid_argument(writer.op->label() + ": input '" + graph.name_of(v.item) + "' is not a variable (" +
                           place_of(writer) + ")");
}

RILL_COLD const device_type& binder::device_of(const subgraph::item& it) {
    return it.device ? *it.device : cpu_device();
}

RILL_COLD kernel binder::bind_kernel(const subgraph::item& it, kernel_request& request) {
    const auto& op = *it.op;
    const auto& device = device_of(it);
    const auto type = op.kernel_type(request.inputs, request.outputs);
    const auto factory = find_kernel(device.name, op.kernel_name(), type);
    if (!factory)
        throw unimplemented(no_kernel_text(std::string(op.name()) + " for " + std::string(to_string(type)) +
                                               (device.host_memory ? "" : " on device " + device.name),
                                           place_of(*it.origin)));
    try {
        return (*factory)(op.attributes(), request);
    } catch (const error& problem) {
        throw_error(problem.code(), error_at(*it.origin, op.label(), problem.what()));
    }
}

RILL_COLD kernel binder::copy_kernel(const subgraph::item& it) const {
    const auto& from = slots[slot_of(it.inputs[0])];
    const auto& type = type_of(it.inputs[0]);
    const auto* source = from.space ? from.space : &cpu_device();
    const auto* target = &device_of(it);
    return kernel([=, type = type.type, n = type.shape.size()](const kernel_args& a) {
        copy_between(*source, a.in<void>(0), *target, a.out<void>(0), type, n);
    });
}

}}} // namespace rill::RILL_ABI::detail
