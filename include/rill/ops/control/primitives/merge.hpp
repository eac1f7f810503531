// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/control/cond.hpp>
#include <rill/ops/control/primitives/primitive_op.hpp>
#include <rill/ops/control/region/loop_state.hpp>

namespace rill { inline namespace RILL_ABI {

/// Returns its live input and the number of that input. In a loop it has one input, and a back edge from the previous iteration: see
/// close_loop. Two live inputs are an internal error.
struct merge_op : detail::flow_primitive {
    static constexpr auto name = "Merge";
    static constexpr int least_inputs = 1;
    static constexpr bool stateful = true; // CSE must keep both of two merges: each has a back edge of its own

    static control_flow_kind flow() { return {control_flow_kind::form::merges}; }
    /// Returns the common type of the inputs, and the type of the input number.
    std::vector<tensor_type> outputs(std::span<const tensor_type> in) const;
};

/// The result of merge. The index is the number of the live input; in a loop, 0 in the first iteration and 1 later.
template <class H> struct merged {
    H value;
    tensor<int> index;
};

/// Returns the live one of several values, or a dead value if none is live: merge(off, on). For a loop it takes the first value:
/// merge(entered). close_loop then adds the values of later iterations.
template <graph_operand X, graph_operand... More> auto merge(const X& x, const More&... more) {
    const node* n = detail::add_flow_node(merge_op{}, {}, x, more...);
    using H = typename detail::joined_all<detail::handle_type<X>, detail::handle_type<More>...>::type;
    return merged<H>{detail::handles<H>({{n, 0}}), tensor<int>(detail::unchecked, any_tensor(endpoint{n, 1}))};
}

/// A back edge of a loop: a merge, and the next_iteration that leads back to it.
struct back_edge {
    template <class H, graph_operand X> back_edge(const merged<H>& to, const X& next) : edge{to.value.node(), {}} {
        static_assert(state_keeps_its_type<H, detail::handle_type<X>>,
                      "close_loop: what comes back has another element type or shape than the merge");
        edge.back = any_tensor(next).end();
    }
    loop_edge edge;
};

/// Closes a loop: close_loop({{i, next_iteration(i_on + 1)}, {sum, next_iteration(…)}}). A run that needs an open loop is refused. One call
/// takes all merges of a loop, so that no run sees a part of it.
void close_loop(std::initializer_list<back_edge> all);
void close_loop(const std::vector<back_edge>& all);

}} // namespace rill::RILL_ABI

#if RILL_DEFINE
namespace rill { inline namespace RILL_ABI {

RILL_INLINE std::vector<tensor_type> merge_op::outputs(std::span<const tensor_type> in) const {
    tensor_type all = in[0];
    for (const auto& t : in) {
        if (t.type != all.type || !rules::compatible(t.shape, all.shape))
            throw invalid_argument("one input is " + to_string(in[0]) + ", another " + to_string(t));
        all.shape = rules::common(all.shape, t.shape); // compatible with all inputs up to this one
    }
    return {all, {dtype::int32, {}}};
}

RILL_INLINE void close_loop(std::initializer_list<back_edge> all) { close_loop(std::vector<back_edge>(all)); }

RILL_INLINE void close_loop(const std::vector<back_edge>& all) {
    if (all.empty()) throw invalid_argument("close_loop: no merge was given");
    std::vector<loop_edge> edges;
    for (const auto& b : all) edges.push_back(b.edge);
    detail::checked_node(edges[0].merge, "close_loop")->owner->close_loops(edges);
}

}} // namespace rill::RILL_ABI
#endif
