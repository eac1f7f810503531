// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/expr/apply.hpp>

// Operators that tensors lack, and std:: functions that do not accept tensors. Each reports in one line what to write instead. Result
// types are declared, not deduced. Concepts may thus ask whether two handles compare, and uses of a result add no errors.

namespace rill { inline namespace RILL_ABI {

/// A pair of tensors, expressions or constants, one of which may be a number.
template <class A, class B>
concept operand_pair = (graph_operand<A> && (graph_operand<B> || literal<B>)) || (literal<A> && graph_operand<B>);

/// An operand of ! or && that means logic: an expression, a constant, or a handle of bool. For other handles, these operators test for
/// null.
template <class A>
concept logic_operand = unsealed_operand<A> || (typed_operand<A> && std::is_same_v<value_type_of<A>, bool>);

/// A pair of logic operands, of which one may have an unknown type. A number is accepted only beside an expression or a constant.
template <class A, class B>
concept logic_pair =
    (logic_operand<A> && (logic_operand<B> || untyped_operand<B>)) || (untyped_operand<A> && logic_operand<B>) ||
    (operand_pair<A, B> && (unsealed_operand<A> || unsealed_operand<B>));

/// The condition of the static_asserts; clang prints the operand types.
template <class... A> inline constexpr bool has_operator = false;

namespace detail::refused {

/// The result type of a refused operator.
template <class T, class... A> struct stand_in_of {
    using type = any_tensor;
};
template <class T, class... A>
    requires((typed_operand<A> || literal<A>) && ...)
struct stand_in_of<T, A...> {
    using type = tensor_of<T, extents_of_rule<broadcast_rule<extents_of<A>...>>>;
};
template <class T, class... A> using stand_in = typename stand_in_of<T, A...>::type;

/// The result type of a refused logic operator or comparison. It converts to bool, so that conditions compile.
template <class... A> struct truth : stand_in<bool, A...> {
    operator bool() const { return false; }
};

template <class A, class B>
    requires logic_pair<A, B>
truth<A, B> operator&&(const A&, const B&) {
    static_assert(has_operator<A, B>, "a && b: write logical_and(a, b)");
    return {};
}
template <class A, class B>
    requires logic_pair<A, B>
truth<A, B> operator||(const A&, const B&) {
    static_assert(has_operator<A, B>, "a || b: write logical_or(a, b)");
    return {};
}
template <logic_operand A> truth<A> operator!(const A&) {
    static_assert(has_operator<A>, "!a: write logical_not(a)");
    return {};
}

template <class A, class B>
    requires operand_pair<A, B>
truth<A, B> operator==(const A&, const B&) {
    static_assert(has_operator<A, B>,
                  "a == b: write equal(a, b); whether two handles are one edge: a.end() == b.end()");
    return {};
}
template <class A, class B>
    requires operand_pair<A, B>
truth<A, B> operator!=(const A&, const B&) {
    static_assert(has_operator<A, B>,
                  "a != b: write not_equal(a, b); whether two handles are one edge: a.end() != b.end()");
    return {};
}

template <class A, class B>
    requires operand_pair<A, B>
stand_in<int, A, B> operator%(const A&, const B&) {
    static_assert(has_operator<A, B>, "a % b: write mod(a, b), which has the sign of b, or a - a / b * b, which has "
                                      "that of a, as % of C++ has");
    return {};
}

template <graph_operand A, class B>
    requires operand_pair<A, B>
const A& operator+=(const A& a, const B&) {
    static_assert(has_operator<A, B>,
                  "a += b: a tensor is not changed in place; write `auto c = a + b`, or variable.assign_add(b)");
    return a;
}
template <graph_operand A, class B>
    requires operand_pair<A, B>
const A& operator-=(const A& a, const B&) {
    static_assert(has_operator<A, B>,
                  "a -= b: a tensor is not changed in place; write `auto c = a - b`, or variable.assign_sub(b)");
    return a;
}
template <graph_operand A, class B>
    requires operand_pair<A, B>
const A& operator*=(const A& a, const B&) {
    static_assert(has_operator<A, B>,
                  "a *= b: a tensor is not changed in place; write `auto c = a * b`, or variable.assign(a * b)");
    return a;
}
template <graph_operand A, class B>
    requires operand_pair<A, B>
const A& operator/=(const A& a, const B&) {
    static_assert(has_operator<A, B>,
                  "a /= b: a tensor is not changed in place; write `auto c = a / b`, or variable.assign(a / b)");
    return a;
}

} // namespace detail::refused

/// The condition of the static_asserts below: functions of std:: take numbers only.
template <class... A> inline constexpr bool std_takes = false;

namespace detail {

/// True if the type names something of std::, as a tensor of complex numbers does. It may be within an expression.
template <class A> inline constexpr bool names_std = false;
template <typed_operand A> inline constexpr bool names_std<A> = !std::is_arithmetic_v<value_type_of<A>>;
template <class Op, class... A>
    requires typed_operand<expression<Op, A...>>
inline constexpr bool names_std<expression<Op, A...>> =
    !std::is_arithmetic_v<value_type_of<expression<Op, A...>>> || (names_std<A> || ...);

} // namespace detail

/// An operand whose type names nothing of std::. For other types, an unqualified exp(z) looks into std:: too, and must not find the
/// functions below.
template <class A>
concept foreign_to_std = graph_operand<A> && !detail::names_std<A>;

}} // namespace rill::RILL_ABI

// std::exp(x) finds these functions and reports one line; the standard's own overloads take no tensor. The empty pack makes them the
// worse match where `using namespace std` lets exp(x) find both.
namespace std {

template <rill::foreign_to_std A, class... None> const A& abs(const A& x, None...) {
    static_assert(rill::std_takes<A>, "std::abs(x): of a tensor, write abs(x)");
    return x;
}
template <rill::foreign_to_std A, class... None> const A& ceil(const A& x, None...) {
    static_assert(rill::std_takes<A>, "std::ceil(x): of a tensor, write ceil(x)");
    return x;
}
template <rill::foreign_to_std A, class... None> const A& cos(const A& x, None...) {
    static_assert(rill::std_takes<A>, "std::cos(x): of a tensor, write cos(x)");
    return x;
}
template <rill::foreign_to_std A, class... None> const A& exp(const A& x, None...) {
    static_assert(rill::std_takes<A>, "std::exp(x): of a tensor, write exp(x)");
    return x;
}
template <rill::foreign_to_std A, class... None> const A& floor(const A& x, None...) {
    static_assert(rill::std_takes<A>, "std::floor(x): of a tensor, write floor(x)");
    return x;
}
template <rill::foreign_to_std A, class... None> const A& log(const A& x, None...) {
    static_assert(rill::std_takes<A>, "std::log(x): of a tensor, write log(x)");
    return x;
}
template <rill::foreign_to_std A, class... None> const A& round(const A& x, None...) {
    static_assert(rill::std_takes<A>, "std::round(x): of a tensor, write round(x)");
    return x;
}
template <rill::foreign_to_std A, class... None> const A& sin(const A& x, None...) {
    static_assert(rill::std_takes<A>, "std::sin(x): of a tensor, write sin(x)");
    return x;
}
template <rill::foreign_to_std A, class... None> const A& sqrt(const A& x, None...) {
    static_assert(rill::std_takes<A>, "std::sqrt(x): of a tensor, write sqrt(x)");
    return x;
}
template <rill::foreign_to_std A, class... None> const A& tan(const A& x, None...) {
    static_assert(rill::std_takes<A>, "std::tan(x): of a tensor, write tan(x)");
    return x;
}
template <rill::foreign_to_std A, class... None> const A& tanh(const A& x, None...) {
    static_assert(rill::std_takes<A>, "std::tanh(x): of a tensor, write tanh(x)");
    return x;
}
template <rill::foreign_to_std A, class B, class... None> const A& pow(const A& x, const B&, None...) {
    static_assert(rill::std_takes<A, B>, "std::pow(x, y): of a tensor, write pow(x, y)");
    return x;
}
template <rill::literal A, rill::foreign_to_std B, class... None> const B& pow(const A&, const B& y, None...) {
    static_assert(rill::std_takes<A, B>, "std::pow(x, y): of a tensor, write pow(x, y)");
    return y;
}

} // namespace std
