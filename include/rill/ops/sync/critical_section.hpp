// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <rill/core/algorithm.hpp>
#include <rill/ops/array/identity.hpp>
#include <rill/ops/control/region/body.hpp>

// Critical sections: nodes between one that acquires a resource and one that releases it.

namespace rill { inline namespace RILL_ABI { namespace detail {

/// The handles of a critical section's results; the release operation if it has none.
template <class R> struct section_result {
    using type = operation;
};
template <body_value R> struct section_result<R> {
    using type = handle_type<R>;
};
template <class... X> struct section_result<std::tuple<X...>> {
    using type = handle_type<std::tuple<X...>>;
};

using section_body = std::function<std::vector<endpoint>(std::vector<const node*>& also)>;

/// The acquire and release ops and their operands. The resource's handle comes first.
struct section_ends {
    op_ptr acquire, release;
    endpoint_list operands;
};

/// Adds the acquire, the nodes of `make`, the release, and identities of the results after it.
std::pair<std::vector<endpoint>, operation> add_critical_section(const section_ends& ends, const section_body& make,
                                                                 const std::source_location& where);

/// Adds a critical section around the nodes of a callable, and returns its results as handles.
template <class F> auto critical_section(const section_ends& ends, const F& body, const std::source_location& where) {
    using R = std::remove_cvref_t<std::invoke_result_t<const F&>>;
    using result = typename section_result<R>::type;
    const graph g(*ends.operands[0].from->owner);
    const auto [given, released] = add_critical_section(
        ends,
        [&](std::vector<const node*>& also) -> std::vector<endpoint> {
            if constexpr (std::is_void_v<R>) {
                body();
                return {};
            } else {
                const R made = body();
                if constexpr (std::is_same_v<R, operation>) also.push_back(made.node());
                return results_of(made, g);
            }
        },
        where);
    if constexpr (std::is_same_v<result, operation>)
        return released;
    else
        return handles<result>(given);
}

}}} // namespace rill::RILL_ABI::detail

#if RILL_DEFINE
#include <algorithm>

namespace rill { inline namespace RILL_ABI { namespace detail {

RILL_COLD std::pair<std::vector<endpoint>, operation>
add_critical_section(const section_ends& ends, const section_body& make, const std::source_location& where) {
    require_kernel<identity_op, void>();
    const graph g(*ends.operands[0].from->owner);
    const graph_scope here(g);
    const auto same = [&](const endpoint& e) {
        return endpoint{add_node(g, make_op(identity_op{}), {e}, {}, false, where), 0};
    };
    const node* acquired = add_node(g, ends.acquire, ends.operands, {}, false, where);
    const auto first = g.size();
    std::vector<endpoint> results;
    std::vector<const node*> within{acquired};
    {
        const control_scope after({acquired});
        scopes().ended.clear(); // a control_dependencies that ended before does not apply here
        results = make(within);
        for (auto& e : results)
            if (e.from->op->role() == op_role::variable) e = same(e); // read the variable inside the section
    }
    const auto nodes = g.nodes();
    for (std::size_t i = first; i < nodes.size(); ++i) // other threads may have added nodes meanwhile
        if (detail::contains(nodes[i]->control_inputs, acquired)) within.push_back(nodes[i]);
    for (const auto& e : results) within.push_back(e.from);
    detail::sort(within, [](const node* a, const node* b) { return a->id < b->id; });
    within.erase(std::unique(within.begin(), within.end()), within.end());
    const node* released = add_node(g, ends.release, ends.operands, {}, false, where, within);
    const control_scope after({released});
    for (auto& e : results) e = same(e);
    return {results, operation(released)};
}

}}} // namespace rill::RILL_ABI::detail
#endif
