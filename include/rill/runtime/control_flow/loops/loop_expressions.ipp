// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/runtime/control_flow/loops/loop_expressions.hpp>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <rill/core/algorithm.hpp>
#include <rill/device/kernel_registry.hpp>
#include <rill/expr/compiled_loop_of.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

/// Returns the source of a value; nothing if the body computes it.
inline std::optional<loop_leaf> leaf_in(const body& b, const endpoint& e) {
    if (const auto at = detail::find(b.arguments, e); at != b.arguments.end())
        return loop_leaf{static_cast<int>(at - b.arguments.begin()), -1, nullptr};
    if (const auto at = detail::find(b.captures, e); at != b.captures.end())
        return loop_leaf{-1, b.captured[static_cast<std::size_t>(at - b.captures.begin())], nullptr};
    if (const any_array* value = e.from->op->constant()) return loop_leaf{-1, -1, value->data()};
    return {};
}

RILL_COLD std::optional<scalar_expression_at> scalar_expression_of(const body& b, const endpoint& e) {
    if (const auto leaf = leaf_in(b, e))
        return scalar_expression_at{{*leaf}, {}, "$0:" + std::string(to_string(type_of(e).type))};
    const fused_spec* spec = e.from->inside == b.of ? e.from->op->fused() : nullptr;
    if (!spec || spec->kernel().empty() || spec->results.size() != 1 || spec->results[0].reduce.how != combine::map ||
        spec->results[0].like >= 0 || divides_integers(*spec->body) || !e.from->control_inputs.empty())
        return {};
    scalar_expression_at made;
    for (const auto& l : spec->leaves) {
        const auto leaf = leaf_in(b, e.from->inputs[l.input]);
        if (!leaf || l.view.how != combine::map) return {};
        made.leaves.push_back(*leaf);
    }
    made.scalars = spec->scalars;
    made.kernel = spec->kernel();
    return made;
}

RILL_COLD std::optional<compiled_loop> find_compiled_loop(const vector<scalar_expression_at>& expressions) {
    std::vector<std::string> keys;
    for (const auto& e : expressions) {
        std::vector<int> parts;
        for (const auto& l : e.leaves) parts.push_back(l.state);
        keys.push_back(loop_key(e.kernel, parts));
    }
    return the_kernels().loops.find(joined_loop_key(keys));
}

RILL_COLD loop_tables::loop_tables(const vector<scalar_expression_at>& all) {
    for (const auto& e : all) leaves_.emplace_back(e.leaves.size());
    for (std::size_t e = 0; e < leaves_.size(); ++e) expressions_.push_back({leaves_[e].data(), all[e].scalars.data()});
}

RILL_INLINE void loop_tables::fill(const vector<scalar_expression_at>& all, const kernel_args& args) {
    for (std::size_t e = 0; e < all.size(); ++e)
        for (std::size_t k = 0; k < all[e].leaves.size(); ++k) {
            const auto& l = all[e].leaves[k];
            leaves_[e][k] = l.input >= 0 ? args.in<void>(l.input) : l.invariant;
        }
}

}}} // namespace rill::RILL_ABI::detail
