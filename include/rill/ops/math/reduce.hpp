// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/expr/node_op.hpp>

namespace rill::inline RILL_ABI {

/// Asks a reduction to leave the reduced axes as extents of 1: reduce_max<1>(x, keep_dims).
struct keep_dims_t {};
inline constexpr keep_dims_t keep_dims{};

/// The axes exist, and none is named twice.
template <class E, int... Axes>
inline constexpr bool axes_exist = rules::reduce(E::value, axis_list{Axes...}, false).ok();

namespace detail {

template <class E, bool Keep, int... Axes> struct reduce_rule {
    static constexpr dims value = rules::reduce(E::value, axis_list{Axes...}, Keep).shape;
};

/// Reduces a tensor of unknown type.
endpoint add_reduction(const any_tensor& x, const reduction& how, make_fused make, const std::source_location& where);

template <combine How, class X> void require_reduction() {
    if constexpr (typed_operand<X>) {
        require_combiner<How, value_type_of<X>>();
    } else {
        require_combiner<How, float>();
        require_combiner<How, double>();
        require_combiner<How, std::int32_t>();
        require_combiner<How, std::int64_t>();
    }
}

/// The shared body of the reductions: a node that evaluates an expression and reduces it in the same pass.
template <combine How, bool Keep, int... Axes, class X>
auto reduce(const X& x, make_fused make, const std::source_location& where) {
    require_reduction<How, X>();
    const reduction how{How, axis_list{Axes...}, Keep};
    if constexpr (typed_operand<X>) {
        using S = typename strip<X>::type;
        require_structure<S>();
        sealing s(graph_of_operand(x));
        gather_leaves(x, s);
        return typed_result<true, value_type_of<X>, reduce_rule<extents_of<X>, Keep, Axes...>>(
            add_expression(program_of<S>(), s, how, make, {}, false, where));
    } else {
        return any_tensor(add_reduction(x, how, make, where));
    }
}

} // namespace detail

} // namespace rill::inline RILL_ABI

#if !RILL_COMPILED
#include <rill/ops/math/reduce.ipp>
#endif
