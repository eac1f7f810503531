// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/string/string_equal.hpp>

namespace rill { inline namespace RILL_ABI {

/// a == b, as bool; string operands make a node. Shape: a and b broadcast. No gradient: the result is bool.
struct equal_op {
    static constexpr auto name = "Equal";
    static constexpr int cost = 1;
    using domain_type = domains::comparable;
    using compiled_types = types::common;
    using result_type = bool;
    template <class V> RILL_FN static auto value(const V& a, const V& b) { return a == b; }
};

template <class A, class B>
    requires elementwise_pair<A, B>
RILL_FRONT auto equal(const A& a, const B& b) {
    static_assert(dtypes_agree<dtype_tag<A>, dtype_tag<B>>, "equal: the dtypes differ; convert with cast<T>()");
    static_assert(shapes_broadcast<extents_of<A>, extents_of<B>>, "equal: the shapes do not broadcast");
    if constexpr (detail::are_text<A, B>) {
        return detail::string_equal(a, b);
    } else {
        if constexpr (detail::may_be_text<A> && detail::may_be_text<B>)
            if (detail::is_text(a) && detail::is_text(b)) return any_tensor(detail::string_equal(a, b));
        return apply<equal_op>(a, b);
    }
}
template <graph_operand A, text_literal B> auto equal(const A& a, const B& b) {
    return equal(a, constant(std::string(b), std::source_location{}));
}
template <text_literal A, graph_operand B> auto equal(const A& a, const B& b) {
    return equal(constant(std::string(a), std::source_location{}), b);
}

}} // namespace rill::RILL_ABI
