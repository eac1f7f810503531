// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/device/loop_code.hpp>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <rill/device/kernel_registry.hpp>

namespace rill { inline namespace RILL_ABI {

namespace detail {

/// Appends the operands of an expression of a loop. Returns its key: an empty string if it is not a state value, an invariant value, or
/// one compiled expression of them.
inline std::string add_expression(const scalar_loop& loop, const scalar_loop::source& from, loop_code& to) {
    std::vector<int> parts;
    const auto add = [&](int input) {
        parts.push_back(loop.is_invariant(input) ? -1 : input);
        to.operands.push_back({loop.is_invariant(input) ? input : -1, {}});
    };
    if (from.member < 0) {
        add(from.index);
        return loop_key("$0:" + std::string(to_string(loop.inputs[static_cast<std::size_t>(from.index)])), parts);
    }
    const auto& member = loop.group.members[static_cast<std::size_t>(from.member)];
    const auto& spec = *member.spec;
    if (spec.kind != fused_spec::form::forward || spec.kernel().empty() || spec.results.size() != 1) return {};
    for (const auto& l : spec.leaves) {
        const auto& in = member.inputs[static_cast<std::size_t>(l.input)];
        if (in.member >= 0) return {};
        add(in.index);
    }
    for (const auto& s : spec.scalars) to.operands.push_back({-1, s});
    return loop_key(spec.kernel(), parts);
}

/// Returns the loop function that the program was compiled with for these expressions.
inline loop_code find_compiled_loop(const scalar_loop& loop) {
    loop_code made;
    if (!loop.conditional || loop.slices > 0 || !loop.stacked.empty()) return made;
    std::vector<std::string> keys{add_expression(loop, loop.condition, made)};
    for (const auto& from : loop.next) keys.push_back(add_expression(loop, from, made));
    for (const auto& key : keys)
        if (key.empty()) return made;
    if (const auto found = the_kernels().loops.find(joined_loop_key(keys))) made.run = *found;
    return made;
}

} // namespace detail

RILL_COLD loop_code find_loop_code(const scalar_loop& loop) {
    if (auto made = detail::find_compiled_loop(loop); made.run) return made;
    const auto* const emit = the_kernels().emit.load();
    return emit ? emit->loop(loop) : loop_code();
}

}} // namespace rill::RILL_ABI
