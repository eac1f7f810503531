// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/expr/apply.hpp>

// Operators that tensors do not have, and functions of std:: that take none, but that many will write: each says in one line
// what to write instead. Their results are declared, not deduced: a concept may ask whether two handles compare, and what uses a
// result adds no errors.

namespace rill { inline namespace RILL_ABI {

/// Tensors, expressions and constants, or one beside a number.
template <class A, class B>
concept operand_pair = (graph_operand<A> && (graph_operand<B> || literal<B>)) || (literal<A> && graph_operand<B>);

/// What logic is meant for where ! or && is written: expressions, constants, and handles of bool. Of other handles, these
/// ask for null.
template <class A>
concept logic_operand = unsealed_operand<A> || (typed_operand<A> && std::is_same_v<value_type_of<A>, bool>);

/// The same of two, of which one may be of unknown type; a number only beside what is no handle.
template <class A, class B>
concept logic_pair =
    (logic_operand<A> && (logic_operand<B> || untyped_operand<B>)) || (untyped_operand<A> && logic_operand<B>) ||
    (operand_pair<A, B> && (unsealed_operand<A> || unsealed_operand<B>));

/// What the checks are called: clang prints the operands.
template <class... A> inline constexpr bool has_operator = false;

namespace detail::refused {

/// Stands for the result.
template <class T, class... A> struct stand_in_of {
    using type = any_tensor;
};
template <class T, class... A>
    requires((typed_operand<A> || literal<A>) && ...)
struct stand_in_of<T, A...> {
    using type = tensor_of<T, extents_of_rule<broadcast_rule<extents_of<A>...>>>;
};
template <class T, class... A> using stand_in = typename stand_in_of<T, A...>::type;

/// The same where conditions stand.
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

/// Functions of std:: take numbers.
template <class... A> inline constexpr bool std_takes = false;

namespace detail {

/// The type names something of std::, as that of a tensor of complex numbers does, also within an expression.
template <class A> inline constexpr bool names_std = false;
template <typed_operand A> inline constexpr bool names_std<A> = !std::is_arithmetic_v<value_type_of<A>>;
template <class Op, class... A>
    requires typed_operand<expression<Op, A...>>
inline constexpr bool names_std<expression<Op, A...>> =
    !std::is_arithmetic_v<value_type_of<expression<Op, A...>>> || (names_std<A> || ...);

} // namespace detail

/// An operand whose type names nothing of std::. An unqualified exp(z) of others looks into std::, too, and must not find what stands
/// there below.
template <class A>
concept foreign_to_std = graph_operand<A> && !detail::names_std<A>;

}} // namespace rill::RILL_ABI

// std::exp(x) finds these functions, so that its error is one line; the standard's own overloads take no tensor. The pack, which is
// empty, makes them the worse match where `using namespace std` lets an exp(x) find both.
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
