// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <concepts>
#include <memory>
#include <vector>

#include <rill/core/host_array.hpp>
#include <rill/expr/handle.hpp>

namespace rill { inline namespace RILL_ABI {

/// A node that holds a value (TensorFlow's Const).
struct constant_op {
    static constexpr auto name = "Const", label = "constant";
    static constexpr int inputs = 0;
    using domain_type = domains::every;
    static constexpr auto no_gradient = ""; // a constant has no inputs
    static constexpr auto role = op_role::constant;
    any_array value;

    static void fields(auto& op, auto& visit) { visit("value", op.value); }
    std::vector<tensor_type> outputs(std::span<const tensor_type>) const;
    const any_array& constant() const { return value; }
};

namespace detail {

/// Adds the node of a constant. With `share`, an equal constant of the graph is reused.
endpoint add_constant(const graph& g, const any_array& value, bool share, const std::string& name = {},
                      const std::source_location& where = {});

} // namespace detail

/// A constant that is not yet in a graph. It joins each graph that uses it, once.
template <class T, index_t... D> class constant_value : public operand<T, D...> {
public:
    explicit constant_value(any_array value, const std::source_location& where = {})
        : value_(std::move(value)), where_(where) {}

    const any_array& value() const noexcept { return value_; }
    /// Returns the source location of the constant.
    const std::source_location& where() const noexcept { return where_; }

    /// Returns its node in a graph, shared by all uses there.
    endpoint join(const graph& g) const { return detail::add_constant(g, value_, true, {}, where_); }

private:
    any_array value_;
    std::source_location where_;
};

template <class X> inline constexpr bool is_constant_value = false;
template <class T, index_t... D> inline constexpr bool is_constant_value<constant_value<T, D...>> = true;

/// Returns a constant of rank 0: a number or text.
template <element T>
auto constant(const T& value, const std::source_location& where = std::source_location::current()) {
    return constant_value<T>(to_any_array<T>(value), where);
}
template <std::same_as<char> C> // a template, so that constant({"a"}) has an extent
auto constant(const C* text, const std::source_location& where = std::source_location::current()) {
    return constant_value<std::string>(to_any_array<std::string>(text), where);
}

/// Returns a constant whose extents are those of the braces: constant({{1.f, 2.f}, {3.f, 4.f}}) is 2 x 2.
template <element T, std::size_t N>
auto constant(const T (&values)[N], const std::source_location& where = std::source_location::current()) {
    return constant_value<T, static_cast<index_t>(N)>(
        detail::owned_copy(dtype_of<T>, dims{static_cast<index_t>(N)}, values), where);
}
template <std::size_t N>
auto constant(const char* const (&values)[N], const std::source_location& where = std::source_location::current()) {
    return constant_value<std::string, static_cast<index_t>(N)>(
        detail::copy_range<std::string>(&values[0], dims{static_cast<index_t>(N)}), where);
}
template <element T, std::size_t N, std::size_t M>
auto constant(const T (&values)[N][M], const std::source_location& where = std::source_location::current()) {
    return constant_value<T, static_cast<index_t>(N), static_cast<index_t>(M)>(
        detail::owned_copy(dtype_of<T>, dims{static_cast<index_t>(N), static_cast<index_t>(M)}, &values[0][0]), where);
}
template <element T, std::size_t N, std::size_t M, std::size_t L>
auto constant(const T (&values)[N][M][L], const std::source_location& where = std::source_location::current()) {
    return constant_value<T, static_cast<index_t>(N), static_cast<index_t>(M), static_cast<index_t>(L)>(
        detail::owned_copy(dtype_of<T>, dims{static_cast<index_t>(N), static_cast<index_t>(M), static_cast<index_t>(L)},
                           &values[0][0][0]),
        where);
}

namespace detail {

template <class T, std::size_t... I>
auto dynamic_constant(any_array a, const std::source_location& where, std::index_sequence<I...>) {
    return constant_value<T, (static_cast<void>(I), dyn)...>(std::move(a), where);
}

} // namespace detail

/// Returns a constant from an xtensor expression of static rank; its extents are dynamic.
template <class X>
    requires xtensor_expression<X>
auto constant(const X& x, const std::source_location& where = std::source_location::current()) {
    using T = host_element<X>;
    constexpr std::size_t rank = std::tuple_size_v<typename std::remove_cvref_t<X>::shape_type>;
    return detail::dynamic_constant<T>(detail::owned_copy(to_any_array<T>(x)), where, std::make_index_sequence<rank>{});
}

/// Returns a constant from a range, with one dynamic extent or the given static ones.
template <flat_range X> auto constant(const X& x, const std::source_location& where = std::source_location::current()) {
    using T = host_element<X>;
    return constant_value<T, dyn>(detail::owned_copy(to_any_array<T>(x, dims{dyn})), where);
}
template <index_t First, index_t... D, flat_range X>
auto constant(const X& x, const std::source_location& where = std::source_location::current()) {
    using T = host_element<X>;
    return constant_value<T, First, D...>(detail::owned_copy(to_any_array<T>(x, dims{First, D...})), where);
}

/// Adds a constant to the current graph; its type is known at run time only.
any_tensor constant(const any_array& value, const std::source_location& where = std::source_location::current());

}} // namespace rill::RILL_ABI

#if !RILL_COMPILED
#include <rill/expr/constant.ipp>
#endif
