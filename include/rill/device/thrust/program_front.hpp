// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Stands in for tensors and graphs where the text of a program (program_source.hpp) includes headers of elementwise ops. A program computes
// with numbers alone. The functions over tensors in these headers therefore only need to be well-formed.

#include <complex>
#include <limits>
#include <source_location>
#include <string>
#include <tuple>
#include <type_traits>

#include <rill/core/op_traits.hpp>
#include <rill/core/plain_tuple.hpp>
#include <rill/device/lane.hpp>
#include <rill/device/structure.hpp>

namespace rill { inline namespace RILL_ABI {

template <class A>
concept literal = std::is_arithmetic_v<A> || is_complex<A> || is_real_floating<A>;

// ---- no operand of a program is a tensor ---------------------------------------------------------------------------------

template <class A>
concept symbolic = false;
template <class A>
concept graph_operand = false;
template <class A>
concept typed_operand = false;
template <class A>
concept untyped_operand = false;
template <class A>
concept expression_operand = false;
template <class A>
concept text_literal = false;
template <class A, class B>
concept operator_pair = false;

template <class A>
concept elementwise_operand = computed_value<A>;
template <class A, class B>
concept elementwise_pair =
    (computed_value<A> && (computed_value<B> || literal<B>)) || (literal<A> && computed_value<B>);
template <class... None>
concept nothing_more = sizeof...(None) == 0;

template <class... A> struct dtype_tag {};
template <class... A> struct extents_of {};
template <class A, class B> inline constexpr bool dtypes_agree = true;
template <class A, class B> inline constexpr bool same_dtype = true;
template <class A, class B> inline constexpr bool shapes_broadcast = true;

template <class T> struct symbol {};
struct any_tensor {
    any_tensor() = default;
    template <class X> explicit any_tensor(const X&);
    bool operator!() const;
};
struct endpoint {};
struct invalid_argument {
    explicit invalid_argument(const std::string&);
};
template <class... X> any_tensor logical_not(const any_tensor&);
template <class X> any_tensor constant(const X& value, const std::source_location& where);

namespace detail {

template <class... X> inline constexpr bool are_text = false;
template <class X> inline constexpr bool may_be_text = false;
template <class X> bool is_text(const X&);
template <class... X> any_tensor string_equal(const X&...);
template <class... X> any_tensor string_select(const X&...);
template <class Op, class... X> any_tensor trace(const X&...);
template <class T, class X> symbol<T> as_symbol(const X&);
template <class... X> struct first_typed {
    using type = void;
};
template <class X> endpoint as_argument(const X&);
template <class T, class X> endpoint typed_argument(const X&, const char* op);
template <class Op, class... X> any_tensor make_expression(const X&...);
std::string at_place(const std::source_location& where);

} // namespace detail

}} // namespace rill::RILL_ABI
