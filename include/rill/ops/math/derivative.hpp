// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/math/add.hpp>
#include <rill/ops/math/gradients.hpp>
#include <rill/ops/math/mul.hpp>
#include <rill/ops/math/select.hpp>

namespace rill { inline namespace RILL_ABI {

/// The derivative of an expression structure as an elementwise op. Its operands are the structure's leaves and scalars, then one bool per
/// leaf occurrence. The bool is true if the derivative is by that leaf.
template <class S> struct adjoint_op {
    static constexpr auto name = "Adjoint";
    static constexpr bool expands = true; // the traced program gives its own derivatives
    using result_type = typename S::value_type;
    using domain_type = domains::any;
    static constexpr int weight = 3 * S::leaves;
    static std::string parameter() { return key_of<S>(); }

    template <class... V> RILL_FN static auto value(const V&... v) {
        const auto all = std::tuple<V...>(v...);
        constexpr std::size_t leaves = S::leaves, scalars = S::scalars;
        return go(pick<0>(all, std::make_index_sequence<leaves>{}),
                  pick<leaves>(all, std::make_index_sequence<scalars>{}),
                  pick<leaves + scalars>(all, std::make_index_sequence<leaves>{}), std::make_index_sequence<leaves>{});
    }

private:
    template <std::size_t From, class Tuple, std::size_t... I>
    RILL_FN static auto pick(const Tuple& t, std::index_sequence<I...>) {
        return std::tuple<std::tuple_element_t<From + I, Tuple>...>(std::get<From + I>(t)...);
    }
    template <class Leaves, class Scalars, class Masks, std::size_t... I>
    RILL_FN static auto go(const Leaves& leaves, const Scalars& scalars, const Masks& masks,
                           std::index_sequence<I...>) {
        const auto s = detail::evaluator<S, 0, 0>::forward(leaves, scalars);
        using V = std::remove_const_t<decltype(s.value)>;
        // initial zeros: no derivative flows to some leaves, such as those of a comparison
        auto slots = std::tuple<std::tuple_element_t<I, Leaves>...>(std::tuple_element_t<I, Leaves>(0)...);
        detail::pullback_of<S, 0>::run(s, V(1), slots);
        V sum(0);
        (add(sum, std::get<I>(slots), std::get<I>(masks)), ...);
        return sum;
    }
    template <class V, class A, class M> RILL_FN static void add(V& sum, const A& adjoint, const M& mask) {
        if constexpr (std::is_same_v<V, A>) sum = sum + select(mask, adjoint, V(0));
    }
};

namespace detail {

/// Returns the leaves of an expression as a tuple of arguments.
template <class A> auto leaf_arguments(const A& a) {
    if constexpr (is_expression<A>)
        return spread([](const auto&... x) { return std::tuple_cat(leaf_arguments(x)...); }, a.args());
    else if constexpr (typed_operand<A>)
        return std::tuple<A>(a);
    else
        return std::tuple<>();
}
template <class A> auto scalar_arguments(const A& a) {
    if constexpr (is_expression<A>)
        return spread([](const auto&... x) { return std::tuple_cat(scalar_arguments(x)...); }, a.args());
    else if constexpr (typed_operand<A>)
        return std::tuple<>();
    else
        return std::tuple<A>(a);
}

template <class A, class X> bool same_leaf(const A& leaf, const X& x) {
    if constexpr (requires {
                      leaf.end();
                      x.end();
                  })
        return leaf.end() == x.end();
    else
        return false;
}

template <class A> inline constexpr bool has_deferred_part = requires(const A& a) { a.part(); };
template <class Op, class... Args>
inline constexpr bool has_deferred_part<expression<Op, Args...>> = (has_deferred_part<Args> || ...);

template <class E, class T, index_t... D> auto derivative_of(const E& y, const tensor<T, D...>& x) {
    static_assert(std::is_same_v<value_type_of<E>, T>, "derivative: y and x must have one element type");
    using S = typename strip<E>::type;
    if constexpr (has_deferred_part<E> || !all_have_pullbacks<S>) {
        static_assert(std::is_same_v<extents_of<E>, extents<D...>>,
                      "derivative: an expression over the weight limit, or one that contains a derivative, needs an x "
                      "of its own shape");
        return std::get<0>(gradients(sealed(y), x));
    } else {
        const auto leaves = leaf_arguments(y);
        const auto masks =
            std::apply([&](const auto&... l) { return std::tuple(scalar<bool>{same_leaf(l, x)}...); }, leaves);
        return std::apply(
            [](const auto&... a) { return expression<adjoint_op<S>, std::remove_cvref_t<decltype(a)>...>(a...); },
            std::tuple_cat(leaves, scalar_arguments(y), masks));
    }
}

} // namespace detail

/// Returns dy/dx of an expression that is elementwise in the tensor x. The result is an expression too, computed in the same pass as the
/// surrounding one. Shape: that of y. Sealed tensors in y are leaves, so only x itself counts. If y exceeds the weight limit or contains a
/// derivative, the result is a tensor. Then y is sealed and differentiated by gradients(), which needs an x of y's shape.
template <typed_operand E, class T, index_t... D> auto derivative(const E& y, const tensor<T, D...>& x) {
    static_assert(detail::is_expression<E>,
                  "derivative: y is an edge of the graph or a constant, not an expression; use gradients(y, x)");
    if constexpr (detail::is_expression<E>) return detail::derivative_of(y, x);
}

}} // namespace rill::RILL_ABI
