// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/device/structure.hpp>

// The expressions and loops that rill::kernels contains, derived from the traits of their ops. Programs that link it compile the rest.

namespace rill { inline namespace RILL_ABI { namespace detail {

/// True if rill::kernels contains the kernel of an elementwise op over operands of these element types.
template <class Op, class... T> inline constexpr bool is_compiled_primitive = (is_compiled<Op, T> && ...);
template <class Op, class T> // a condition and two branches
inline constexpr bool is_compiled_primitive<Op, bool, T, T> = is_compiled<Op, T>;

/// True if rill::kernels contains the kernel of an expression: one op over tensors and at most one scalar.
template <class S> inline constexpr bool is_compiled_expression = false;
template <class T> inline constexpr bool is_compiled_expression<leaf<T>> = types::common::has<T>;
template <class Op, class R, class T>
inline constexpr bool is_compiled_expression<structure<Op, R, leaf<T>>> =
    std::is_same_v<R, T> && types::floats::has<T> && is_compiled<Op, T>;
template <class Op, class R, class T>
inline constexpr bool is_compiled_expression<structure<Op, R, leaf<T>, leaf<T>>> =
    std::is_same_v<R, T> && types::floats::has<T> && is_compiled<Op, T>;
template <class Op, class R, class T>
inline constexpr bool is_compiled_expression<structure<Op, R, scalar_leaf<T>, leaf<T>>> =
    std::is_same_v<R, T> && types::floats::has<T> && is_compiled<Op, T>;
template <class Op, class R, class T>
inline constexpr bool is_compiled_expression<structure<Op, R, leaf<T>, scalar_leaf<T>>> =
    std::is_same_v<R, T> && types::floats::has<T> && is_compiled<Op, T>;

template <class T> inline constexpr bool is_compiled_combiner = types::common::has<T>;

}}} // namespace rill::RILL_ABI::detail
