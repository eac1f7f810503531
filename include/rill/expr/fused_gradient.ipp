// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/expr/fused_gradient.hpp>

#include <algorithm>
#include <cstddef>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <rill/core/algorithm.hpp>
#include <rill/core/hash_map.hpp>
#include <rill/core/vector.hpp>
#include <rill/expr/tracer.hpp>
#include <rill/graph/op/op_registry.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

/// Returns true if gradients flow through an instruction. They stop at a conversion from integers, for instance.
inline bool passes_gradients(const program& p, const program::instruction& i) {
    return is_differentiable(i.type) && detail::any_of(i.args, [&](int a) { return is_differentiable(p.type_of(a)); });
}

inline std::optional<pullback_rule> find_pullback(const std::string& key) {
    auto rule = the_kernels().pullbacks.find(key);
    if (!rule && load_rare_kernels()) rule = the_kernels().pullbacks.find(key);
    return rule;
}

/// Returns the values that the adjoints of a program's leaves depend on. Only the instruction that computes the program's result may read
/// it.
inline pullback_reads reads_of(const program& p) {
    auto all = pullback_reads::gradient;
    for (std::size_t k = 0; k < p.code.size(); ++k) {
        if (!passes_gradients(p, p.code[k])) continue;
        const auto rule = find_pullback(instruction_key(p, p.code[k]));
        const bool last = p.results[0] == p.first_instruction() + static_cast<int>(k);
        if (!rule || rule->reads > (last ? pullback_reads::result : pullback_reads::gradient))
            return pullback_reads::operands;
        all = std::max(all, rule->reads);
    }
    return all;
}

RILL_COLD adjoint_program differentiate(const program& p, const vector<scalar_value>& scalars,
                                        const std::vector<char>& seeded, const std::vector<std::vector<int>>& groups,
                                        const elementwise_info& addition, bool by_result) {
    adjoint_program out;
    if (by_result) out.reads = reads_of(p);
    const bool recomputes = out.reads == pullback_reads::operands;
    std::vector<dtype> leaves;
    if (recomputes) leaves = p.leaves;
    if (out.reads == pullback_reads::result) leaves.push_back(p.type_of(p.results[0]));
    int seed = static_cast<int>(leaves.size());
    for (std::size_t r = 0; r < p.results.size(); ++r)
        if (seeded[r]) leaves.push_back(p.type_of(p.results[r]));
    const std::size_t fixed = recomputes ? scalars.size() : 0;
    tracer t(std::move(leaves), recomputes ? scalars : vector<scalar_value>());
    t.fix_scalars(fixed);

    std::vector<int> value;
    if (recomputes) {
        value = t.append(p);
    } else {
        value.resize(static_cast<std::size_t>(p.first_instruction()) + p.code.size(), -1); // no pullback reads them
        if (out.reads == pullback_reads::result) value[p.results[0]] = t.leaf(0);
    }

    std::vector<int> adjoint(value.size(), -1);
    const auto add = [&](int& to, int more) { to = to < 0 ? more : t.emit(addition, t.type_of(more), {to, more}); };
    for (std::size_t r = 0; r < p.results.size(); ++r)
        if (seeded[r]) add(adjoint[p.results[r]], t.leaf(seed++));
    for (std::size_t k = p.code.size(); k-- > 0;) {
        const auto& i = p.code[k];
        const std::size_t at = static_cast<std::size_t>(p.first_instruction()) + k;
        if (adjoint[at] < 0 || !passes_gradients(p, i)) continue;
        const auto key = instruction_key(p, i);
        const auto rule = find_pullback(key);
        if (!rule) throw unimplemented("gradients: " + no_kernel_text(key + "'s pullback"));
        std::vector<int> args, parts(i.args.size(), -1);
        for (const int a : i.args) args.push_back(value[a]);
        rule->trace(&t, args.data(), value[at], adjoint[at], parts.data());
        for (std::size_t a = 0; a < parts.size(); ++a)
            if (parts[a] >= 0) add(adjoint[i.args[a]], parts[a]);
    }

    std::vector<int> results;
    for (const auto& group : groups) {
        int sum = -1;
        for (const int l : group)
            if (adjoint[l] >= 0) add(sum, adjoint[l]);
        out.flows.push_back(sum >= 0);
        if (sum >= 0) results.push_back(sum);
    }
    program adjoints = *t.finish(results);
    adjoints.adjoint_of = p.key;
    out.body = std::make_shared<const program>(std::move(adjoints));
    out.constants = vector<scalar_value>(std::span(t.scalars()).subspan(fixed));
    return out;
}

RILL_COLD std::shared_ptr<const known_adjoint>
differentiate_once(const program_ptr& p, const vector<scalar_value>& scalars, const std::vector<char>& seeded,
                   const std::vector<std::vector<int>>& groups, const elementwise_info& add, bool by_result) {
    // constants in the result are independent of scalar values: structure, seeds and groups are the whole key
    std::string key;
    key.reserve(p->key.size() + 32);
    key.append(p->key).append(by_result ? "|y" : "|");
    for (const char s : seeded) key += s ? '1' : '0';
    for (const auto& group : groups) {
        key += "|";
        for (const int l : group) key.append(std::to_string(l)).append(",");
    }
    constexpr std::size_t most = 1024; // user code has fewer; loaded graphs may have any number
    static auto& memory = *new std::pair<std::mutex, hash_map<std::string, std::shared_ptr<const known_adjoint>>>;
    {
        const std::lock_guard lock(memory.first);
        if (const auto at = memory.second.find(key); at != memory.second.end()) return at->second;
    }
    auto made = std::make_shared<known_adjoint>();
    made->made = differentiate(*p, scalars, seeded, groups, add, by_result);
    const std::lock_guard lock(memory.first);
    if (memory.second.size() >= most) memory.second.clear();
    return memory.second.try_emplace(std::move(key), std::move(made)).at->second;
}

/// Returns the reduction from the result's shape to an operand's: none, or a sum over leading axes. Returns nothing if static shapes do
/// not tell. An extent unknown in both shapes is equal if all other operands have extent 1 there.
inline std::optional<reduction> sum_to(int operand, const fused_spec& spec, const gradient_request& r) {
    const auto shape_of = [&](int input) -> const dims& { return type_of(r.at.inputs[input]).shape; };
    const dims &to = shape_of(operand), &space = type_of(r.output(0)).shape;
    if (!to.known_rank() || !space.known_rank() || !(type_of(r.gradients[0]).shape == space)) return {};
    const int leading = space.rank - to.rank;
    for (int k = 0; k < to.rank; ++k) {
        if (to[k] != space[leading + k]) return {};
        if (to[k] == dyn && detail::any_of(spec.leaves, [&](const fused_leaf& l) {
                const dims& other = shape_of(l.input);
                const int at = k + other.rank - to.rank;
                return l.input != operand && (!other.known_rank() || (at >= 0 && other[at] != 1));
            }))
            return {};
    }
    reduction how;
    if (leading > 0) how.how = combine::sum;
    for (int k = 0; k < leading; ++k) how.axes.set(how.axes.count++, k);
    return how;
}

/// The leaves whose gradients are wanted, in groups: leaves of one input with equal views have one gradient.
struct leaf_groups {
    struct group {
        int input;
        reduction view;
    };
    vector<group> groups;
    std::vector<std::vector<int>> members;

    leaf_groups(const fused_spec& spec, const gradient_request& r) {
        for (std::size_t i = 0; i < spec.leaves.size(); ++i) {
            const auto& l = spec.leaves[i];
            if (!r.wanted[l.input] || !is_differentiable(spec.body->leaves[i])) continue;
            std::size_t g = 0;
            while (g < groups.size() && !(groups[g].input == l.input && groups[g].view == l.view)) ++g;
            if (g == groups.size()) {
                groups.push_back({l.input, l.view});
                members.emplace_back();
            }
            members[g].push_back(static_cast<int>(i));
        }
    }
    std::uint32_t mask(std::size_t g) const {
        std::uint32_t all = 0;
        for (const int l : members[g]) all |= 1u << (l % 32);
        return all;
    }
};

/// Adds the node that computes the gradients of the groups, if any flow. Stores them in `out`, by input. `result_of` tells how the
/// gradient of a group is reduced; it may add inputs.
template <class ResultOf>
void add_gradient_node(const leaf_groups& all, const known_adjoint& known, const gradient_request& r, fused_spec next,
                       endpoint_list inputs, const ResultOf& result_of, std::vector<endpoint>& out) {
    std::vector<int> places; // per result: the input it belongs to
    for (std::size_t g = 0; g < all.groups.size(); ++g) {
        if (!known.made.flows[g]) continue;
        fused_result result = result_of(g, inputs);
        result.mask = all.mask(g);
        next.results.push_back(result);
        places.push_back(all.groups[g].input);
    }
    if (places.empty()) return;
    next.body = known.made.body;
    next.scalars.append(known.made.constants);
    const node* made = add_node(graph(*r.at.owner), known.op.of(std::move(next)), std::move(inputs));
    for (std::size_t k = 0; k < places.size(); ++k) out[places[k]] = {made, static_cast<int>(k)};
}

/// Returns the gradients of a node's inputs, computed from its result. Operands are not read; they are inputs only if their shapes are
/// unknown.
inline std::vector<endpoint> gradient_by_result(const fused_spec& spec, const gradient_request& r, leaf_groups all,
                                                std::shared_ptr<const known_adjoint> known) {
    std::vector<endpoint> out(r.at.inputs.size());
    const int seed = known->made.reads == pullback_reads::result;
    vector<std::optional<reduction>> how;
    bool passed = false;
    for (std::size_t g = 0, result = 0; g < all.groups.size(); ++g) {
        const int input = all.groups[g].input;
        how.push_back(sum_to(input, spec, r));
        const bool flows = known->made.flows[g];
        const bool is_seed = flows && known->made.body->results[result++] == seed;
        if (!is_seed || !how[g] || how[g]->how != combine::map) continue;
        out[input] = r.gradients[0]; // unchanged
        all.members[g].clear();
        passed = true;
    }
    if (passed) known = differentiate_once(spec.body, spec.scalars, {1}, all.members, *r.ops.add, true);

    fused_spec next;
    next.kind = spec.kind == fused_spec::form::forward ? fused_spec::form::by_result : fused_spec::form::program;
    endpoint_list inputs;
    const auto read = [&](const endpoint& e) {
        next.leaves.push_back({static_cast<int>(inputs.size()), {}});
        inputs.push_back(e);
    };
    if (known->made.reads == pullback_reads::result) read(r.output(0));
    read(r.gradients[0]);
    const auto result_of = [&](std::size_t g, endpoint_list& more) {
        fused_result result;
        if (how[g])
            result.reduce = *how[g];
        else
            result.like = input_number(more, r.at.inputs[all.groups[g].input]);
        return result;
    };
    add_gradient_node(all, *known, r, std::move(next), std::move(inputs), result_of, out);
    return out;
}

RILL_COLD std::vector<endpoint> fused_gradient(const fused_spec& spec, const gradient_request& r) {
    leaf_groups all(spec, r);
    std::vector<char> seeded;
    for (const auto& g : r.gradients) seeded.push_back(bool(g));
    const auto is_map = [](const auto& of) { return of.how == combine::map; };
    const bool by_result = spec.results.size() == 1 && seeded[0] && spec.results[0].like < 0 &&
                           is_map(spec.results[0].reduce) &&
                           detail::all_of(spec.leaves, [&](const fused_leaf& l) { return is_map(l.view); });
    const auto known = differentiate_once(spec.body, spec.scalars, seeded, all.members, *r.ops.add, by_result);
    if (known->made.reads != pullback_reads::operands) return gradient_by_result(spec, r, std::move(all), known);

    fused_spec next;
    next.leaves = spec.leaves;
    next.scalars = spec.scalars;
    endpoint_list inputs = r.at.inputs;
    for (std::size_t k = 0; k < spec.results.size(); ++k)
        if (seeded[k]) {
            next.leaves.push_back({static_cast<int>(inputs.size()), spec.results[k].reduce});
            inputs.push_back(r.gradients[k]);
        }
    const bool first_order = spec.kind == fused_spec::form::forward;
    next.kind = first_order ? fused_spec::form::adjoint : fused_spec::form::program;
    // No input is both an operand and the gradient of a reduction, which would need the sum of two results. A seed is always appended as
    // an input of its own.
    const auto result_of = [&](std::size_t g, endpoint_list&) {
        fused_result result;
        if (is_map(all.groups[g].view))
            result.like = all.groups[g].input;
        else
            result.reduce = all.groups[g].view;
        return result;
    };
    std::vector<endpoint> out(r.at.inputs.size());
    add_gradient_node(all, *known, r, std::move(next), std::move(inputs), result_of, out);
    return out;
}

}}} // namespace rill::RILL_ABI::detail
