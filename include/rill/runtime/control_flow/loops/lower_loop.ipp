// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/runtime/control_flow/loops/lower_loop.hpp>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <rill/core/algorithm.hpp>
#include <rill/core/hash_map.hpp>
#include <rill/runtime/control_flow/bound_region.hpp>
#include <rill/runtime/control_flow/loops/region_scalars.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

/// A builder of the loop that bodies compute.
class loop_lowering {
public:
    using source = scalar_loop::source;

    /// Begins a loop over operands of these types: its state, then its slices.
    explicit loop_lowering(std::span<const tensor_type> operands) : operands_(static_cast<int>(operands.size())) {
        for (const auto& t : operands) made_.loop.inputs.push_back(t.type);
    }

    scalar_loop& loop() { return made_.loop; }
    lowered_loop finish() && { return std::move(made_); }

    /// Returns the source of an invariant scalar: input `input` of the node, or the constant if `input` is -1.
    source invariant(int input, dtype type, const any_array& constant) {
        auto& all = made_.invariants;
        const auto same = [&](const invariant_scalar& s) {
            return s.input == input && s.constant.data() == constant.data();
        };
        const auto at = static_cast<std::size_t>(detail::find_if(all, same) - all.begin());
        if (at == all.size()) {
            made_.loop.inputs.push_back(type);
            all.push_back({input, constant});
        }
        return {-1, operands_ + static_cast<int>(at)};
    }

    source add(fusion_group::member member) {
        made_.loop.group.members.push_back(std::move(member));
        return {static_cast<int>(made_.loop.group.members.size()) - 1, 0};
    }

    /// Adds a bound body. Returns the sources of its results; nothing if it does more than compute scalars from scalars.
    std::optional<std::vector<source>> add(const bound_region& b, std::span<const tensor_type> inputs) {
        const auto numbers = numbers_of(b.steps().bound());
        if (!numbers) return {};
        const int first = static_cast<int>(made_.loop.group.members.size());
        const auto arguments = static_cast<int>(b.of().arguments.size());
        const auto source_of = [&](const source& s) -> source {
            if (s.member >= 0) return {first + s.member, s.index};
            const auto& from = numbers->inputs[static_cast<std::size_t>(s.index)];
            if (from.feed >= 0 && from.feed < arguments) return {-1, from.feed};
            if (from.feed < 0) return invariant(-1, from.invariant.dtype(), from.invariant);
            const int input = b.of().captured[static_cast<std::size_t>(from.feed - arguments)];
            return invariant(input, inputs[static_cast<std::size_t>(input)].type, {});
        };
        for (auto member : numbers->group.members) {
            for (auto& from : member.inputs) from = source_of(from);
            add(std::move(member));
        }
        std::vector<source> results;
        for (std::size_t r = 0; r < b.types().size(); ++r)
            results.push_back(source_of(numbers->fetches[static_cast<std::size_t>(b.fetch(r))]));
        return results;
    }

private:
    int operands_;
    lowered_loop made_;
};

RILL_COLD std::optional<lowered_loop> lower_loop(const region_attributes& use, std::span<const bound_region> bodies,
                                                 std::span<const tensor_type> inputs) {
    const bool repeats = use.how == region_attributes::form::repeat;
    if (use.written > 0 || use.effects || (!repeats && use.how != region_attributes::form::scan)) return {};
    const auto parts = static_cast<std::size_t>(use.state());
    const auto& results = bodies.back().types();
    if (!detail::all_of(inputs.first(parts), is_number) || !detail::all_of(results, is_number)) return {};

    loop_lowering lowering(inputs.first(static_cast<std::size_t>(use.operands)));
    auto& loop = lowering.loop();
    if (repeats) {
        const auto condition = lowering.add(bodies[0], inputs);
        if (!condition) return {};
        loop.conditional = true;
        loop.condition = condition->front();
    }
    const auto given = lowering.add(bodies.back(), inputs);
    if (!given) return {};
    loop.slices = use.operands - static_cast<int>(parts);
    loop.reverse = use.reverse;
    loop.next.assign(given->begin(), given->begin() + static_cast<std::ptrdiff_t>(parts));
    loop.stacked.assign(given->begin() + static_cast<std::ptrdiff_t>(parts), given->end());
    return std::move(lowering).finish();
}

/// A builder of the loop of one state value, from bodies that are not bound.
class part_lowering {
public:
    using source = scalar_loop::source;

    part_lowering(const tensor_type& type, std::size_t part) : lowering_(std::span(&type, 1)), part_(part) {}

    bool add(const body& condition, const body& step) {
        const auto goes_on = source_of(condition, condition.results[0]);
        const auto next = goes_on ? source_of(step, step.results[part_]) : std::nullopt;
        if (!next) return false;
        lowering_.loop().conditional = true;
        lowering_.loop().condition = *goes_on;
        lowering_.loop().next = {*next};
        return true;
    }
    lowered_loop finish() && { return std::move(lowering_).finish(); }

private:
    /// Returns the source of a value; nothing if it reads more than the state value and loop-invariant scalars.
    std::optional<source> source_of(const body& b, const endpoint& e) {
        const auto& type = type_of(e);
        if (!type.shape.complete() || !is_number(type)) return {};
        if (const auto at = detail::find(b.arguments, e); at != b.arguments.end())
            return static_cast<std::size_t>(at - b.arguments.begin()) == part_ ? std::optional(source{-1, 0})
                                                                               : std::nullopt;
        if (const auto at = detail::find(b.captures, e); at != b.captures.end()) {
            // a body may write a captured variable, which is then not loop-invariant
            if (e.from->op->role() == op_role::variable) return {};
            return lowering_.invariant(b.captured[static_cast<std::size_t>(at - b.captures.begin())], type.type, {});
        }
        if (const any_array* value = e.from->op->constant()) return lowering_.invariant(-1, type.type, *value);
        const auto member = e.from->inside == b.of ? member_of(b, *e.from) : -1;
        return member < 0 ? std::nullopt : std::optional(source{member, static_cast<int>(e.port)});
    }

    /// Returns the member that computes a node of a body; -1 if it has none.
    int member_of(const body& b, const node& n) {
        if (const auto known = member_.find(&n); known != member_.end()) return known->second;
        const fused_spec* spec = n.op->fused();
        const auto maps = [](const fused_result& r) { return r.reduce.how == combine::map; };
        const auto whole = [](const fused_leaf& l) { return l.view.how == combine::map; };
        if (!spec || divides_integers(*spec->body) || !n.control_inputs.empty() ||
            !detail::all_of(spec->results, maps) || !detail::all_of(spec->leaves, whole))
            return -1;
        fusion_group::member member;
        member.spec = spec;
        member.results.assign(n.outputs.size(), -1);
        for (const auto& in : n.inputs) {
            const auto from = source_of(b, in);
            if (!from) return -1;
            member.inputs.push_back(*from);
        }
        return member_[&n] = lowering_.add(std::move(member)).member;
    }

    loop_lowering lowering_;
    std::size_t part_;
    hash_map<const node*, int> member_;
};

/// Returns true if a loop certainly has effects, writes, or non-scalar state.
inline bool has_more_than_numbers(const region_attributes& use, const body& step) {
    const auto is_array = [](const endpoint& e) {
        const auto& type = type_of(e);
        return type.type == dtype::string || (type.shape.complete() && type.shape.size() != 1);
    };
    return use.effects || use.written > 0 || detail::any_of(step.arguments, is_array);
}

RILL_COLD std::optional<lowered_part> lower_induction_variable(const subgraph::item& it) {
    const auto& use = *it.op->regions();
    if (use.how != region_attributes::form::repeat) return {};
    const auto &condition = (*it.origin->bodies)[0], &step = (*it.origin->bodies)[1];
    if (!condition.effects.empty() || !has_more_than_numbers(use, step)) return {};
    for (std::size_t part = 0; part < step.arguments.size(); ++part) {
        const auto &argument = type_of(step.arguments[part]), &result = type_of(step.results[part]);
        if (argument.shape.rank != 0 || argument != result) continue;
        part_lowering lowering(argument, part);
        if (lowering.add(condition, step)) return lowered_part{part, std::move(lowering).finish()};
    }
    return {};
}

}}} // namespace rill::RILL_ABI::detail
