// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/expr/expression.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <utility>

namespace rill { inline namespace RILL_ABI { namespace detail {

RILL_INLINE std::uint64_t next_sealing() {
    static std::atomic<std::uint64_t> last{0};
    return ++last;
}

RILL_INLINE const endpoint& checked(const endpoint& e, const std::source_location& where) {
    if (!e) throw failed_precondition("a null tensor was used" + at_place(where));
    return e;
}

RILL_COLD void refuse_null(std::string_view who, const std::source_location& where) {
    throw failed_precondition(snake_case(who) + ": a null tensor was used" + at_place(where));
}

RILL_COLD void refuse_null_beside(std::string_view who, std::span<const endpoint> operands) {
    std::string beside;
    for (const auto& e : operands)
        if (e) beside += " beside '" + name_of(e) + "' (" + place_of(*e.from) + ")";
    throw failed_precondition(snake_case(who) + ": a null tensor was used" + beside);
}

RILL_INLINE graph graph_or_current(const graph_state* found) {
    return found ? graph(const_cast<graph_state&>(*found)) : current_graph();
}

RILL_INLINE sealing::sealing(const graph& g, std::uint64_t pass_) : home(g), pass(pass_) {}
RILL_INLINE sealing::~sealing() = default;
RILL_INLINE void sealing::leaf(const endpoint& e) { leaves.push_back(checked(e, where)); }
RILL_INLINE void sealing::scalar(const scalar_value& value) { scalars.push_back(value); }

RILL_INLINE fused_spec spec_without_leaves(const traced_structure& traced, const sealing& s) {
    fused_spec spec;
    spec.body = traced.body;
    spec.scalars = s.scalars;
    spec.scalars.append(traced.constants);
    spec.results.resize(1);
    return spec;
}

RILL_INLINE endpoint add_expression(const traced_structure& traced, const sealing& s, const reduction& how,
                                    make_fused make, const std::string& name, bool share,
                                    const std::source_location& where) {
    fused_spec spec = spec_without_leaves(traced, s);
    spec.results[0].reduce = how;
    endpoint_list inputs;
    for (const auto& l : s.leaves) spec.leaves.push_back({input_number(inputs, l), {}});
    auto op = make == &make_fused_op ? traced.op.of(std::move(spec)) : make(std::move(spec));
    return {add_node(s.home, std::move(op), std::move(inputs), name, share, where), 0};
}

}}} // namespace rill::RILL_ABI::detail
