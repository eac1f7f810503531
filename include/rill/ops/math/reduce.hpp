// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/expr/node_op.hpp>

namespace rill::inline RILL_ABI {

/// Asks a reduction to leave the reduced axes as extents of 1: reduce_max<1>(x, keep_dims).
struct keep_dims_t {};
inline constexpr keep_dims_t keep_dims{};

/// The axes exist, and none is named twice.
template <class E, int... Axes> inline constexpr bool axes_exist = rules::reduce(E::value, axis_list{Axes...}, false).ok();

namespace detail {

template <class E, bool Keep, int... Axes> struct reduce_rule {
    static constexpr dims value = rules::reduce(E::value, axis_list{Axes...}, Keep).shape;
};

/// A node that evaluates an expression and reduces it in the same pass.
template <class Op, class X>
endpoint add_reduction(const Op& make, const X& x, const reduction& how, const std::source_location& where) {
    const graph g = graph_of_operand(x);
    fused_spec spec;
    std::vector<endpoint> inputs;
    if constexpr (typed_operand<X>) {
        using S = typename strip<X>::type;
        require_structure<S>();
        sealing s{g, {}, {}};
        gather_leaves(x, s);
        std::tie(spec, inputs) = spec_over(program_of<S>(), std::move(s));
    } else {
        tracer t({x.dtype()}, {});
        spec.body = t.finish({t.leaf(0)});
        spec.kernel = spec.body->key;
        spec.leaves.resize(1);
        spec.results.resize(1);
        inputs = {x.end()};
        require_fused();
    }
    spec.results[0].reduce = how;
    return {add_node(g, make_op(make(std::move(spec))), std::move(inputs), {}, false, where), 0};
}

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

/// The shared body of the reductions: Make builds the op from its fused form.
template <combine How, bool Keep, int... Axes, class Make, class X>
auto reduce(const Make& make, const X& x, const std::source_location& where) {
    require_reduction<How, X>();
    const endpoint e = add_reduction(make, x, {How, axis_list{Axes...}, Keep}, where);
    if constexpr (typed_operand<X>)
        return typed_result<true, value_type_of<X>, reduce_rule<extents_of<X>, Keep, Axes...>>(e);
    else return any_tensor(e);
}

} // namespace detail

} // namespace rill::inline RILL_ABI
