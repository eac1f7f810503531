// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/runtime/control_flow/loops/induction_variable.hpp>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>
#include <optional>
#include <utility>

#include <rill/core/algorithm.hpp>
#include <rill/core/shared.hpp>
#include <rill/passes/split_into_stages.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

/// Returns true if a loop certainly has effects, writes, or non-scalar state.
inline bool has_more_than_numbers(const region_attributes& use, const body& step) {
    const auto is_array = [](const endpoint& e) {
        const auto& type = type_of(e);
        return type.type == dtype::string || (type.shape.complete() && type.shape.size() != 1);
    };
    return use.effects || use.written > 0 || detail::any_of(step.arguments, is_array);
}

/// Returns the only state part among the leaves if all others are loop-invariant; -1 if there is no such part, or
/// several.
inline int induction_variable_of(const scalar_expression_at& e) {
    int part = -1;
    for (const auto& l : e.leaves) {
        if (l.state < 0) continue;
        if (part >= 0 && l.state != part) return -1;
        part = l.state;
    }
    return part;
}

RILL_COLD std::shared_ptr<const induction_variable> induction_variable::find(const subgraph::item& it) {
    const auto& use = *it.op->regions();
    // a dynamic node runs complete bodies
    if (use.how != region_attributes::form::repeat || needs_dynamic_execution(*it.origin)) return {};
    const auto &condition = (*it.origin->bodies)[0], &step = (*it.origin->bodies)[1];
    if (!condition.effects.empty() || !has_more_than_numbers(use, step)) return {};
    // a body may write a captured variable, which is then not loop-invariant
    const auto reads_variable = [&](const scalar_expression_at& e, const body& b) {
        return detail::any_of(e.leaves, [&](const loop_leaf& l) {
            const auto at = detail::find(b.captured, l.input);
            return l.input >= 0 &&
                   b.captures[static_cast<std::size_t>(at - b.captured.begin())].from->op->role() == op_role::variable;
        });
    };
    auto test = scalar_expression_of(condition, condition.results[0]);
    const int part = test ? induction_variable_of(*test) : -1;
    if (part < 0 || reads_variable(*test, condition)) return {};
    const auto at = static_cast<std::size_t>(part);
    const auto &argument = type_of(step.arguments[at]), &result = type_of(step.results[at]);
    if (argument.shape.rank != 0 || argument != result || argument.type == dtype::string) return {};
    auto next = scalar_expression_of(step, step.results[at]);
    if (!next || induction_variable_of(*next) != part || reads_variable(*next, step)) return {};
    vector<scalar_expression_at> both;
    both.push_back(std::move(*test)), both.push_back(std::move(*next));
    for (auto& e : both)
        for (auto& l : e.leaves)
            if (l.state >= 0) l.state = 0;
    const auto loop = find_compiled_loop(both);
    if (!loop) return {};
    body rest = step;
    rest.results[at] = rest.arguments[at];
    return detail::make_shared<induction_variable>(at, *loop, std::move(both), std::move(rest));
}

RILL_INLINE void induction_variable::run::begin(const kernel_args& args) {
    tables_.fill(of_.expressions_, args);
    const int part = static_cast<int>(of_.part_);
    std::memcpy(next_.data(), args.in<void>(part), size_of(type_of(of_.rest_.arguments[of_.part_]).type));
}

RILL_INLINE bool induction_variable::run::next() {
    value_ = next_;
    void* state = next_.data();
    return of_.loop_({tables_.all(), &state, 1, nullptr}) == 1;
}

}}} // namespace rill::RILL_ABI::detail
