// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/string/string_select.hpp>

namespace rill { inline namespace RILL_ABI {

/// a where the condition holds, else b; string operands make a node. Shape: all three broadcast. Gradient: g to the selected side.
struct select_op {
    static constexpr auto name = "Select";
    static constexpr int cost = 1;
    using domain_type = domains::any;
    using compiled_types = types::common;
    template <class U> using operands = std::tuple<bool, U, U>;
    template <class C, class V> RILL_FN static auto value(const C& c, const V& a, const V& b) {
        return select(c, a, b);
    }
    template <class C, class V> RILL_FN static auto pullback(const C& c, const V&, const V&, const V&, const V& g) {
        return adjoints<no_gradient, V, V>(no_gradient{}, select(c, g, V(0)), select(c, V(0), g));
    }
};

template <class C, class A, class B>
    requires(expression_operand<C> && (expression_operand<A> || literal<A>) && (expression_operand<B> || literal<B>))
constexpr auto select(const C& condition, const A& a, const B& b) {
    if constexpr (symbolic<C>) {
        static_assert(symbolic<A> || symbolic<B>, "select: one side must be a value");
        using U = typename std::conditional_t<symbolic<A>, A, B>::value_type;
        return detail::trace<select_op>(condition, detail::as_symbol<U>(a), detail::as_symbol<U>(b));
    } else {
        static_assert(untyped_operand<C> || same_dtype<dtype_tag<C>, bool>, "select: the condition must be bool");
        static_assert(dtypes_agree<dtype_tag<A>, dtype_tag<B>>,
                      "select: the dtypes of the two sides differ; convert with cast<T>()");
        static_assert(shapes_broadcast<extents_of<A>, extents_of<B>>, "select: the shapes do not broadcast");
        static_assert(shapes_broadcast<extents_of<C>, extents_of<A>> && shapes_broadcast<extents_of<C>, extents_of<B>>,
                      "select: the condition's shape does not broadcast with the others");
        if constexpr (detail::are_text<A, B>) {
            return detail::string_select(condition, a, b);
        } else if constexpr (untyped_operand<C> || untyped_operand<A> || untyped_operand<B>) {
            if constexpr (detail::may_be_text<A> && detail::may_be_text<B>)
                if (detail::is_text(a) && detail::is_text(b)) return any_tensor(detail::string_select(condition, a, b));
            return apply<select_op>(condition, a, b);
        } else {
            // numbers take the dtype of the other side, not that of the condition
            static_assert(!literal<A> || !literal<B>, "select: one side must be a tensor");
            using T = typename detail::first_typed<std::conditional_t<literal<A>, B, A>>::type;
            return detail::make_expression<select_op>(detail::as_argument(condition),
                                                      detail::typed_argument<T>(a, "select"),
                                                      detail::typed_argument<T>(b, "select"));
        }
    }
}

}} // namespace rill::RILL_ABI
