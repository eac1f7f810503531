// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <concepts>
#include <string>
#include <vector>

#include <rill/expr/handle.hpp>
#include <rill/graph/op/op_registry.hpp>

namespace rill { inline namespace RILL_ABI {

/// Does nothing, after its control inputs have run.
struct no_op_op {
    static constexpr auto name = "NoOp", label = "group";
    using domain_type = domains::every;
    static constexpr auto no_gradient = ""; // the op has no outputs
    static constexpr bool stateful = true;
    static constexpr auto role = op_role::control;

    std::vector<tensor_type> outputs(std::span<const tensor_type>) const;
};

namespace detail {

operation add_group(std::vector<const node*> after, const std::string& name, const std::source_location& where);

} // namespace detail

/// Returns an operation that runs after all given operations: group(assign, enqueue).
template <node_handle... H>
    requires(sizeof...(H) > 0)
operation group(const H&... all) {
    return detail::add_group({static_cast<const node*>(all.node())...}, "group", {});
}
operation group(const std::vector<operation>& all, const std::string& name = "group",
                const std::source_location& where = std::source_location::current());
/// Groups tensors: group(std::vector<any_tensor>{a, b}).
template <std::derived_from<any_tensor> H>
operation group(const std::vector<H>& all, const std::string& name = "group",
                const std::source_location& where = std::source_location::current()) {
    return group(std::vector<operation>(all.begin(), all.end()), name, where);
}

/// Returns an operation that does nothing; it runs after its control_dependencies.
inline operation no_op(const std::string& name = "no_op",
                       const std::source_location& where = std::source_location::current()) {
    return detail::add_group({}, name, where);
}

}} // namespace rill::RILL_ABI

#if RILL_DEFINE
namespace rill { inline namespace RILL_ABI {

RILL_INLINE std::vector<tensor_type> no_op_op::outputs(std::span<const tensor_type>) const { return {}; }

namespace detail {

RILL_INLINE operation add_group(std::vector<const node*> after, const std::string& name,
                                const std::source_location& where) {
    ensure_registered<no_op_op>();
    for (const auto* n : after) checked_node(n, "group");
    const graph g = after.empty() ? current_graph() : graph(*after[0]->owner);
    // a variadic call passes no source location
    const auto& place = where.line() == 0 && !after.empty() ? after[0]->where : where;
    return operation(add_node(g, make_op(no_op_op{}), {}, name, false, place, std::move(after)));
}

} // namespace detail

RILL_INLINE operation group(const std::vector<operation>& all, const std::string& name,
                            const std::source_location& where) {
    std::vector<const node*> after;
    for (const auto& o : all) after.push_back(o.node());
    return detail::add_group(std::move(after), name, where);
}

}} // namespace rill::RILL_ABI
#endif
