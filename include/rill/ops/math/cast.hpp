// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/expr/apply.hpp>

namespace rill { inline namespace RILL_ABI {

/// A conversion of the element type. From float to integer it saturates, and NaN gives 0. Integers wrap; bool gives 0
/// and 1. Shape: that of x. Gradient: converted back, between floating types.
template <class To> struct cast_op {
    static constexpr auto name = "Cast";
    using domain_type = domains::any;
    using compiled_types = std::conditional_t<types::common::has<To>, types::common, type_set<>>;
    using result_type = To;
    template <class V> RILL_FN static auto value(const V& x) { return cast_to<To>(x); }
    template <class V, class Y> RILL_FN static auto pullback(const V&, const Y&, const Y& g) {
        return cast_to<typename V::value_type>(g);
    }
};

/// Traces a conversion.
template <class To, class T> constexpr auto cast_to(const symbol<T>& x) {
    if constexpr (std::is_same_v<To, T>)
        return x;
    else
        return detail::trace<cast_op<To>>(x);
}

template <element To, graph_operand X> auto cast(const X& x) { return apply<cast_op<To>>(x); }

/// Overload for a type known only at run time: cast(x, y.dtype()).
template <graph_operand X>
any_tensor cast(const X& x, dtype to, const std::source_location& where = std::source_location::current()) {
    const any_tensor from(x);
    any_tensor made;
    types::common::each([&]<class To>(std::type_identity<To>) {
        if (to == dtype_of<To>) made = cast<To>(from);
    });
    if (!made)
        throw invalid_argument("cast: to " + std::string(to_string(to)) + " converts cast<T>(x) only" +
                               detail::at_place(where));
    return made;
}

}} // namespace rill::RILL_ABI
