// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// size: the phases of one binding, which build the same bound graph one after the other

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
#include <rill/passes/needed_items.hpp>
#include <rill/runtime/dynamic_runtime.hpp>
#include <rill/runtime/segment/step_order.hpp>
#include <rill/runtime/segment/variable_reads.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

RILL_COLD std::optional<bound_graph> binder::bind(const subgraph& g, std::span<const tensor_type> feeds,
                                                  resource_store& resources, const body_plans& bodies) {
    binder b;
    b.graph = g;
    b.control = bodies.control;
    if (!b.infer(feeds, bodies, resources.memory())) return {};
    b.find_folded();
    for (const auto& it : g.items) b.shape_only_.push_back(it.shape_only_inputs());
    b.needed_ = needed_items(g, b.shape_only_);
    b.find_fusion_groups();
    b.find_views();
    b.assign_slots(resources);
    b.bind_steps(resources);
    b.find_spaces();
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

RILL_COLD bool binder::infer(std::span<const tensor_type> feed_types, const body_plans& bodies, allocator& memory) {
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
                if (!bound.step) return false;
                types.push_back(std::move(bound.outputs));
                changes.resize(i + 1);
                changes[i] = std::move(bound.changes);
                region_of_.try_emplace(static_cast<int>(i),
                                       std::static_pointer_cast<const static_region_kernel>(bound.step));
            } else {
                types.push_back(it.op->outputs({in, &values}));
            }
        } catch (...) {
            rethrow_described([&](const std::string& what) {
                std::string shapes;
                for (const auto& t : in) shapes += (shapes.empty() ? "" : ", ") + to_string(t);
                return it.op->label() + ": " + what + " (" + shapes + "; " + place_of(*it.origin) + ")";
            });
        }
        for (const auto& t : types.back())
            if (t.shape.complete() && !t.countable())
                throw resource_exhausted(it.origin->op->label() + ": " + to_string(t) +
                                         " is more than memory can hold (" + place_of(*it.origin) + ")");
            else if (!t.shape.complete())
                throw unimplemented(it.op->label() + ": the shape " + to_string(t) + " depends on data (" +
                                    place_of(*it.origin) + ")");
    }
    return true;
}

RILL_COLD const std::vector<any_array>* binder::known_value(std::size_t i) const {
    const auto& it = graph.items[i];
    return it.after.empty() ? known_.of_item(static_cast<int>(i)) : nullptr;
}

RILL_COLD void binder::find_folded() {
    folded.assign(graph.items.size(), 0);
    for (std::size_t i = 0; i < graph.items.size(); ++i) {
        const auto& it = graph.items[i];
        folded[i] = known_value(i) != nullptr;
        if (!folded[i] && is_pure(graph, static_cast<int>(i)) && !it.inputs.empty() && it.after.empty())
            folded[i] = detail::all_of(
                it.inputs, [&](const auto& v) { return graph.role(v.item) == op_role::constant || folded[v.item]; });
    }
}

RILL_COLD void binder::find_fusion_groups() {
    group_of.assign(graph.items.size(), -1);
    auto no_members = folded;
    for (std::size_t i = 0; i < needed_.size(); ++i)
        if (!needed_[i]) no_members[i] = 1;
    const auto first = detail::find_fusion_groups(graph, types, no_members);
    for (std::size_t i = 0; i < first.size(); ++i) {
        if (first[i] == static_cast<int>(i)) continue;
        auto& number = group_of[first[i]];
        if (number < 0) {
            number = static_cast<int>(fusion_groups.size());
            fusion_groups.push_back({{first[i]}, {}});
        }
        fusion_groups[number].items.push_back(static_cast<int>(i));
        group_of[i] = number;
    }
    for (auto& c : fusion_groups)
        for (const int i : c.items) c.needed.emplace_back(types[i].size());
    // mark the results that items outside of the group read
    const auto need = [&](const subgraph::value& v, int reader_group) {
        const int number = group_of[v.item];
        if (number < 0 || number == reader_group) return;
        auto& c = fusion_groups[number];
        c.needed[c.member_of(v.item)][v.port] = 1;
    };
    for (std::size_t i = 0; i < graph.items.size(); ++i)
        for (std::size_t k = 0; needed_[i] && k < graph.items[i].inputs.size(); ++k)
            if (reads(i, k)) need(graph.items[i].inputs[k], group_of[i]);
    for (const auto& v : graph.fetches) need(v, -1);
}

RILL_COLD void binder::find_views() {
    views_ = find_fused_views(*this, needed_, shape_only_, [&](const auto& v) { return is_fed_variable(v); });
    const auto join = [&](int i) {
        if (group_of[i] >= 0) return;
        group_of[i] = static_cast<int>(fusion_groups.size());
        fusion_groups.push_back({{i}, {std::vector<char>(types[i].size(), 1)}});
    };
    for (const auto& [by, padding] : views_.paddings) {
        join(by.first);
        needed_[padding.item] = 0;
    }
    if (views_.slices.empty()) return;
    for (std::size_t i = 0; i < graph.items.size(); ++i)
        for (std::size_t k = 0; needed_[i] && !views_.slice(static_cast<int>(i)) && k < graph.items[i].inputs.size();
             ++k)
            if (views_.slice(graph.items[i].inputs[k].item) && reads(i, k)) join(static_cast<int>(i));
    for (const auto& [i, slice] : views_.slices) needed_[i] = 0;
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
            s.space = it.output_memory(static_cast<int>(port));
            using home = slot_value::home;
            if (it.feed >= 0)
                s.where = home::feed;
            else if (role == op_role::constant)
                s.where = home::constant;
            else if (role == op_role::variable)
                s.where = home::variable;
            else if (folded[i])
                s.where = home::folded;
            else if (s.type.type == dtype::string && needed_[i])
                s.where = home::string;
            else if (stays_in_block(i, port))
                s.where = home::block;
            if (s.where == home::variable) {
                s.variable = static_cast<std::int32_t>(variables.size());
                slots.push_back(s); // slot of the old value, while a kernel writes the variable
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
    // a variable may be written while the alias is in use, so the value is copied; an earlier stage gives its memory as a feed
    return slots[source].where == slot_value::home::variable || is_fed_variable(it.inputs[it.op->alias()]) || folded[i]
               ? -1
               : source;
}

RILL_COLD bool binder::is_fed_variable(const subgraph::value& v) const {
    const int feed = graph.items[v.item].feed;
    if (feed < 0) return false;
    const auto& from = graph.feeds[static_cast<std::size_t>(feed)];
    const node* const variable = from.from ? variable_of(from) : nullptr;
    if (!variable) return false;
    // of a stage: a later one may write it. A body reads what it captures, and only itself can write it meanwhile
    const auto is_in_body = [&](const subgraph::item& it) {
        return it.origin && it.origin->inside && it.origin->inside != from.from->inside;
    };
    const auto writes = [&](const subgraph::item& it) {
        return it.origin && detail::any_of(it.op->writes(), [&](int k) {
                   return rill::written_variable(it.origin->inputs[static_cast<std::size_t>(k)]) == variable;
               });
    };
    return detail::none_of(graph.items, is_in_body) || detail::any_of(graph.items, writes);
}

RILL_COLD bool binder::stays_in_block(std::size_t i, std::size_t port) const {
    if (group_of[i] < 0) return false;
    const auto& c = fusion_groups[group_of[i]];
    return !c.needed[c.member_of(static_cast<int>(i))][port];
}

RILL_COLD bool binder::is_step(std::size_t i) const {
    const auto& it = graph.items[i];
    if (it.feed >= 0 || !needed_[i]) return false;
    if (!it.origin) return true;
    if (it.op->role() != op_role::ordinary && it.op->role() != op_role::resource) return false;
    if (known_value(i)) return false;
    const bool aliases = it.op->alias() >= 0 && !it.is_write() &&
                         slot_of({static_cast<int>(i), 0}) == slot_of(it.inputs[it.op->alias()]);
    return !aliases;
}

RILL_COLD void binder::bind_steps(resource_store& resources) {
    for (std::size_t i = 0; i < graph.items.size(); ++i) {
        if (group_of[i] >= 0) {
            const auto& c = fusion_groups[group_of[i]];
            if (c.items[0] == static_cast<int>(i)) bind_fusion_group(c, resources);
            continue;
        }
        const auto& it = graph.items[i];
        if (const auto* known = known_value(i))
            for (std::size_t port = 0; port < known->size(); ++port) {
                const auto& value = (*known)[port];
                folded_values.push_back({value_slot[i][port], it.memory() ? copied_to(value, it.memory()) : value});
            }
        if (!is_step(i)) continue;
        std::vector<tensor_type> in;
        std::vector<int> from;
        for (std::size_t k = 0; k < it.inputs.size(); ++k) {
            in.push_back(type_of(it.inputs[k]));
            from.push_back(reads(i, k) ? slot_of(it.inputs[k]) : unread_slot());
        }
        kernel_request request{in, types[i]};
        if (it.origin) resources.answer(request, *it.op, *it.origin);
        request.space = it.memory();
        step s;
        s.item = static_cast<std::int32_t>(i);
        if (const auto bodies = region_of_.find(static_cast<int>(i)); bodies != region_of_.end()) {
            s.region = static_cast<std::int32_t>(regions.size());
            s.plain = false;
            regions.push_back(bodies->second);
        } else if (it.origin) {
            s.run = bind_kernel(it, request);
        } else {
            bind_copy(it, s);
        }
        if (request.next_stream) {
            s.random = static_cast<std::int32_t>(streams.size());
            streams.push_back(std::move(request.next_stream));
        }
        if (it.origin && it.is_write()) {
            s.plain = false;
            if (it.op->initialises() || s.region >= 0) // bodies check at run time whether there is a value
                s.how = variable_write::initialises;
            else if (it.op->replaces_variables())
                s.how = variable_write::replaces;
            s.first_write = static_cast<std::int32_t>(write_list.size());
            for (const int w : it.op->writes()) {
                const auto& written = it.inputs[w];
                write_list.push_back({variable_index(written, *it.origin), true});
                for (std::size_t k = 0; k < it.inputs.size(); ++k) // an op that also reads it needs a value
                    if (s.how == variable_write::initialises && !it.writes(k) && from[k] == slot_of(written))
                        s.how = variable_write::replaces;
            }
            s.writes = static_cast<std::int32_t>(write_list.size()) - s.first_write;
            std::sort(write_list.begin() + s.first_write, write_list.end(),
                      [&](const auto& x, const auto& y) { return comes_first(x.variable, y.variable); });
        }
        if (it.origin && it.op->in_place() && !it.is_write())
            for (std::size_t k = 0; k < it.inputs.size(); ++k)
                if (reads(i, k)) may_share_.push_back({steps.size(), it.inputs[k], {s.item, 0}});
        for (int port = 0; port < static_cast<int>(types[i].size()); ++port)
            if (const int changed = changed_input({s.item, port}); changed >= 0)
                may_share_.push_back({steps.size(), it.inputs[changed], {s.item, port}});
        const op_cost cost =
            it.origin ? it.op->cost(in, types[i]) : op_cost{0, detail::total_bytes(in) + detail::total_bytes(types[i])};
        add_step(std::move(s), from, value_slot[i], request, cost, folded[i] != 0);
    }
}

RILL_COLD void binder::bind_fusion_group(const bound_fusion_group& c, resource_store& resources) {
    fusion_group members;
    vector<subgraph::value> inputs;
    hash_map<std::pair<int, int>, std::size_t> number_of; // the number of an input
    hash_map<int, std::size_t> last_reader;               // per slot, as aliases are several inputs in one slot
    hash_set<int> viewed;                                 // slots of which a view is read: no result overwrites them
    std::vector<int> from;                                // per input: its slot; -1: no member reads it
    std::vector<tensor_type> in, out;
    std::vector<const any_array*> constants;
    std::vector<int> outputs;
    for (std::size_t k = 0; k < c.items.size(); ++k) {
        const auto i = static_cast<std::size_t>(c.items[k]);
        const auto& it = graph.items[i];
        auto& member = members.members.emplace_back();
        member.spec = it.op->fused();
        for (std::size_t input = 0; input < it.inputs.size(); ++input) {
            const auto& v = it.inputs[input];
            if (group_of[v.item] == group_of[i]) {
                member.inputs.push_back({static_cast<int>(c.member_of(v.item)), v.port});
                continue;
            }
            const auto [known, fresh] = number_of.try_emplace({v.item, v.port}, inputs.size());
            if (fresh) {
                inputs.push_back(v);
                in.push_back(type_of(v));
                from.push_back(-1);
                const auto& made_by = graph.items[v.item].op;
                constants.push_back(made_by ? made_by->constant() : nullptr);
            }
            if (reads(i, input)) {
                const auto* slice = views_.slice(v.item);
                const int slot = slot_of(slice ? slice->from : v);
                if (slice && fresh) members.views.push_back({static_cast<int>(known->second), slice->view});
                if (slice) viewed.insert(slot);
                from[known->second] = slot;
                last_reader[slot] = k;
            }
            member.inputs.push_back({-1, static_cast<int>(known->second)});
        }
        for (std::size_t port = 0; port < types[i].size(); ++port) {
            member.results.push_back(c.needed[k][port] ? static_cast<int>(outputs.size()) : -1);
            if (!c.needed[k][port]) continue;
            const auto* padding = views_.padding_of(static_cast<int>(i), static_cast<int>(port));
            if (padding) members.paddings.push_back({static_cast<int>(outputs.size()), padding->view});
            outputs.push_back(padding ? value_slot[padding->item][0] : value_slot[i][port]);
            out.push_back(types[i][port]);
        }
    }
    // results are written block by block: none may overwrite an input that a later member reads
    for (std::size_t k = 0; k < c.items.size(); ++k)
        if (graph.items[c.items[k]].op->in_place() && c.needed[k][0] && types[c.items[k]][0].shape.size() > 1 &&
            !views_.padding_of(c.items[k], 0))
            for (const auto& v : inputs)
                if (const auto last = last_reader.find(slot_of(v));
                    last != last_reader.end() && last->second <= k && !viewed.contains(slot_of(v)))
                    may_share_.push_back({steps.size(), v, {c.items[k], 0}});
    kernel_request request{in, out, constants};
    request.on.pool = resources.threads().for_ops();
    const auto& first = graph.items[c.items[0]];
    request.space = first.memory();
    step s;
    s.item = c.items.back();
    const auto& where = first.runs_on().name;
    const auto group_kernel = find_kernel(where, fusion_group::name, dtype::invalid);
    if (!group_kernel) throw internal("no kernel of fusion groups for device " + where);
    s.run = (*group_kernel)(&members, request);
    op_cost cost{0, detail::total_bytes(out)};
    for (std::size_t k = 0; k < from.size(); ++k)
        if (from[k] < 0)
            from[k] = unread_slot();
        else
            cost.bytes += static_cast<double>(in[k].bytes());
    add_step(std::move(s), from, outputs, request, cost, false);
}

RILL_COLD int binder::unread_slot() {
    if (unread_slot_ < 0) {
        unread_slot_ = static_cast<int>(slots.size());
        slots.emplace_back();
    }
    return unread_slot_;
}

RILL_COLD void binder::add_step(step s, std::span<const int> inputs, std::span<const int> outputs,
                                const kernel_request& request, const op_cost& cost, bool is_folded) {
    s.inputs = static_cast<std::int32_t>(indices.size());
    for (const int slot : inputs) indices.push_back(writes_variable(s, slots[slot].variable) ? slot - 1 : slot);
    s.outputs = static_cast<std::int32_t>(indices.size());
    indices.insert(indices.end(), outputs.begin(), outputs.end());
    slot_value scratch;
    scratch.bytes = request.scratch_bytes;
    scratch.where = slot_value::home::scratch;
    scratch.space = graph.items[s.item].memory();
    indices.push_back(static_cast<std::int32_t>(slots.size()));
    slots.push_back(scratch);
    s.end = static_cast<std::int32_t>(indices.size());
    s.number = static_cast<std::int32_t>((is_folded ? folded_steps : steps).size());
    if (is_folded) return folded_steps.push_back(std::move(s));
    const auto& runs_on = graph.items[s.item].runs_on();
    // devices with their own memory compute asynchronously: more threads would only wait for the driver
    const bool on_host = !graph.items[s.item].memory();
    costs_.push_back(
        {on_host ? std::max(request.microseconds, runs_on.microseconds(cost.flops, cost.bytes)) : 0, request.shared});
    steps.push_back(std::move(s));
}

RILL_COLD void binder::find_spaces() {
    for (const auto& it : graph.items)
        if (const auto* space = it.memory(); space && !detail::contains(spaces, space)) spaces.push_back(space);
    if (spaces.empty()) return;
    std::vector<char> copied(slots.size()); // per slot: its value is copied to the host, which may end late
    for (auto& s : steps) {
        const auto& it = graph.items[s.item];
        if (s.ends_late) copied[indices[s.outputs]] = 1;
        for (auto k = s.inputs; k < s.outputs; ++k)
            s.reads_error_records = s.reads_error_records || copied[indices[k]] != 0;
        if (s.region >= 0) // the host runs the bodies, in whatever memory their values lie
            s.reads_error_records = true;
        else if (!it.memory())
            s.reads_error_records =
                s.reads_error_records || (it.origin && (it.is_write() || it.op->stateful() || types[s.item].empty()));
        else // a device knows only its own record
            s.reads_error_records = s.reads_error_records || (spaces.size() > 1 && it.is_write());
        if (s.reads_error_records) s.plain = false;
    }
}

RILL_COLD std::int32_t binder::variable_index(const subgraph::value& v, const node& writer) const {
    if (const auto at = slots[slot_of(v)].variable; at >= 0) return at;
    throw invalid_argument(writer.op->label() + ": input '" + graph.name_of(v.item) + "' is not a variable (" +
                           place_of(writer) + ")");
}

RILL_COLD kernel binder::bind_kernel(const subgraph::item& it, kernel_request& request) {
    const auto& op = *it.op;
    const auto type = op.kernel_type(request.inputs, request.outputs);
    const auto factory = find_kernel(it.runs_on().name, op.kernel_name(), type);
    if (!factory)
        throw unimplemented(no_kernel_text(std::string(op.name()) + " for " + std::string(to_string(type)) +
                                               (it.memory() ? " on device " + it.runs_on().name : ""),
                                           place_of(*it.origin)));
    try {
        return (*factory)(op.attributes(), request);
    } catch (...) {
        rethrow_described([&](const std::string& what) { return error_at(*it.origin, op.label(), what); });
    }
}

RILL_COLD void binder::bind_copy(const subgraph::item& it, step& s) const {
    const auto& from = slots[slot_of(it.inputs[0])];
    const auto& type = type_of(it.inputs[0]);
    s.ends_late = from.space && !it.memory();
    if (s.ends_late) // the steps that read the copy wait for it, or the end of the run
        s.run = kernel([source = from.space, bytes = type.bytes()](const kernel_args& a) {
            if (bytes > 0) source->to_host(*source, a.in<void>(0), a.out<void>(0), bytes);
        });
    else
        s.run =
            kernel([source = from.space, target = it.memory(), type = type.type, n = type.shape.size()](
                       const kernel_args& a) { copy_between(source, a.in<void>(0), target, a.out<void>(0), type, n); });
}

}}} // namespace rill::RILL_ABI::detail
