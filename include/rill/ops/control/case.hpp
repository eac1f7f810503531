// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/control/cond.hpp>

namespace rill { inline namespace RILL_ABI {

/// Runs branch number `index`, counted from 0, or the last one for any other number: switch_case(i, [&] { return a; }, [&] { return b; }).
/// Branches are as in cond.
template <graph_operand I, class F, class... More>
    requires(std::is_invocable_v<const F&> && (std::is_invocable_v<const More&> && ...))
auto switch_case(const I& index, const F& first, const More&... more) {
    if constexpr (typed_operand<I>) {
        static_assert(same_dtype<value_type_of<I>, int> || same_dtype<value_type_of<I>, std::int64_t>,
                      "switch_case: the index must be an int or a std::int64_t");
        static_assert(extents_of<I>::rank == 0, "switch_case: the index must have rank 0");
    }
    detail::register_region_ops<case_op>();
    using result = typename detail::joined_all<detail::branch_type<F>, detail::branch_type<More>...>::type;
    const graph g = detail::home_graph(index);
    return detail::branch_result<result>(
        detail::add_branches(g, "switch_case", detail::seal(index, g), detail::chosen_by::number,
                             {detail::branch_body(first, g), detail::branch_body(more, g)...}, {}));
}

/// Runs the branch after the first true condition, else the last branch: case_(a, f, b, g, otherwise). Conditions are computed in order, up
/// to the first that is true.
template <class Otherwise>
    requires std::is_invocable_v<const Otherwise&>
auto case_(const Otherwise& otherwise) {
    return otherwise();
}
template <graph_operand C, class F, class... More>
    requires(sizeof...(More) > 0)
auto case_(const C& condition, const F& f, const More&... more) {
    return cond(condition, f, [&] { return case_(more...); }, std::source_location{}); // the condition gives the place
}

}} // namespace rill::RILL_ABI
