// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <tuple>
#include <type_traits>

#include <rill/core/elementwise_info.hpp>
#include <rill/core/op_traits.hpp>

namespace rill { inline namespace RILL_ABI {

/// A value that kernels compute with: a number, or a register of numbers.
template <class A>
concept computed_value = requires { std::remove_cvref_t<A>::is_computed; };

namespace detail {

template <class Op, class... T> struct elementwise_result_of {
    using type = std::tuple_element_t<sizeof...(T) - 1, std::tuple<T...>>;
};
template <class Op, class... T>
    requires requires { typename Op::result_type; }
struct elementwise_result_of<Op, T...> {
    using type = typename Op::result_type;
};

/// An op with a value function, which is generic over value types.
template <class Op, class... V>
concept has_value_function = requires(const V&... v) { Op::value(v...); };

template <class Op> constexpr int op_weight_of() {
    if constexpr (requires { Op::weight; })
        return Op::weight;
    else
        return 1;
}

/// Returns the cost of one element in additions: Op::cost, or 8 (an elementary function) by default.
template <class Op> constexpr int op_cost_of() {
    if constexpr (requires { Op::cost; })
        return Op::cost;
    else
        return 8;
}
template <class Op> constexpr bool op_divides() {
    if constexpr (requires { Op::divides; })
        return Op::divides;
    else
        return false;
}

} // namespace detail

/// The element type of an elementwise op's result: Op::result_type, or the last operand's type by default.
template <class Op, class... T> using elementwise_result = typename detail::elementwise_result_of<Op, T...>::type;

/// The weight of an op: its share of an expression's weight limit.
template <class Op> inline constexpr int op_weight = detail::op_weight_of<Op>();

/// The values that a pullback reads beside the gradient, given by its parameters: (g), (result, g) or (operands…, result, g).
enum class pullback_reads : std::uint8_t { gradient, result, operands };

/// The description of an elementwise op in programs; the only place that makes it from the op's struct.
template <class Op>
inline constexpr elementwise_info info_of{Op::name, detail::op_version<Op>, detail::op_cost_of<Op>(),
                                          detail::op_divides<Op>(), detail::type_name<Op>()};

namespace detail {

/// Computes an elementwise op on any kind of value. A tracing value records the op as one instruction.
/// For other values, the op's value function runs. Without one, its scalar function runs lane by lane, or its register function.
template <class Op, class V, class... More> RILL_FN constexpr auto compute(const V& v, const More&... more) {
    if constexpr (requires { V::template traced<Op>(v, more...); })
        return V::template traced<Op>(v, more...);
    else if constexpr (has_value_function<Op, V, More...>)
        return Op::value(v, more...);
    else
        return V::template computed<Op>(v, more...);
}

template <class Op, class V> constexpr pullback_reads pullback_reads_of() {
    if constexpr (requires(const V& g) { Op::pullback(g); })
        return pullback_reads::gradient;
    else if constexpr (requires(const V& y, const V& g) { Op::pullback(y, g); })
        return pullback_reads::result;
    else
        return pullback_reads::operands;
}

/// Returns the adjoints of an op's operands; passes the pullback only the values that it reads.
template <class Op, class V, class... Operands>
RILL_FN constexpr auto pull_back(const V& result, const V& gradient, const Operands&... operands) {
    if constexpr (constexpr auto reads = pullback_reads_of<Op, V>(); reads == pullback_reads::gradient)
        return Op::pullback(gradient);
    else if constexpr (reads == pullback_reads::result)
        return Op::pullback(result, gradient);
    else
        return Op::pullback(operands..., result, gradient);
}

template <class V, class A> RILL_FN constexpr auto as_computed(const A& a) {
    if constexpr (std::is_arithmetic_v<A>)
        return V(a);
    else
        return a;
}

} // namespace detail

/// Computes an elementwise op of numbers or registers, with literals beside them. Value functions and pullbacks call it.
template <class Op, computed_value A, class... More>
    requires((computed_value<More> || std::is_arithmetic_v<More>) && ...)
RILL_FN constexpr auto apply(const A& a, const More&... more) {
    return detail::compute<Op>(a, detail::as_computed<A>(more)...);
}
template <class Op, class L, computed_value A>
    requires std::is_arithmetic_v<L>
RILL_FN constexpr auto apply(const L& literal, const A& a) {
    return detail::compute<Op>(A(literal), a);
}

}} // namespace rill::RILL_ABI
