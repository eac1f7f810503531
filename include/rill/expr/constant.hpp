// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <vector>

#include <rill/core/host_array.hpp>
#include <rill/expr/handle.hpp>

namespace rill::inline RILL_ABI {

/// A node that holds a value (TensorFlow's Const).
struct constant_op {
    static constexpr auto name = "Const", label = "constant";
    static constexpr auto no_gradient = ""; // nothing comes in
    static constexpr auto role = op_role::constant;
    any_array value;

    template <class V> void attributes(V& v) const { v("value", value); }
    std::vector<tensor_type> outputs(std::span<const tensor_type>) const { return {value.type()}; }
    const any_array& constant() const { return value; }
    friend bool operator==(const constant_op& a, const constant_op& b) { return a.value.data() == b.value.data(); }
};

/// A constant that has not joined a graph yet: it joins the graph it is used in, once.
template <class T, index_t... D> class constant_value : public operand<T, D...> {
public:
    explicit constant_value(any_array value) : value_(std::move(value)) {}

    const any_array& value() const noexcept { return value_; }

    /// The node in that graph; shared by all uses there.
    endpoint join(const graph& g) const { return {detail::add_node(g, make_op(constant_op{value_}), {}, {}, true), 0}; }

private:
    any_array value_;
};

template <class X> inline constexpr bool is_constant_value = false;
template <class T, index_t... D> inline constexpr bool is_constant_value<constant_value<T, D...>> = true;

/// A constant of rank 0, or text.
template <element T> auto constant(const T& value) {
    return constant_value<T>(to_any_array<T>(value));
}
inline auto constant(const char* text) { return constant_value<std::string>(to_any_array<std::string>(std::string(text))); }

/// Constants whose extents are in the braces: constant({{1.f, 2.f}, {3.f, 4.f}}) is 2 x 2.
template <element T, std::size_t N> auto constant(const T (&values)[N]) {
    any_array a(dtype_of<T>, dims{static_cast<index_t>(N)});
    std::copy_n(values, N, static_cast<T*>(a.mutable_data()));
    return constant_value<T, static_cast<index_t>(N)>(std::move(a));
}
template <element T, std::size_t N, std::size_t M> auto constant(const T (&values)[N][M]) {
    any_array a(dtype_of<T>, dims{static_cast<index_t>(N), static_cast<index_t>(M)});
    std::copy_n(&values[0][0], N * M, static_cast<T*>(a.mutable_data()));
    return constant_value<T, static_cast<index_t>(N), static_cast<index_t>(M)>(std::move(a));
}
template <element T, std::size_t N, std::size_t M, std::size_t L> auto constant(const T (&values)[N][M][L]) {
    any_array a(dtype_of<T>, dims{static_cast<index_t>(N), static_cast<index_t>(M), static_cast<index_t>(L)});
    std::copy_n(&values[0][0][0], N * M * L, static_cast<T*>(a.mutable_data()));
    return constant_value<T, static_cast<index_t>(N), static_cast<index_t>(M), static_cast<index_t>(L)>(std::move(a));
}

namespace detail {

template <class T, std::size_t... I> auto dynamic_constant(any_array a, std::index_sequence<I...>) {
    return constant_value<T, (static_cast<void>(I), dyn)...>(std::move(a));
}

/// A constant keeps its value: what was borrowed is copied.
any_array owned_copy(const any_array& a);

} // namespace detail

/// A constant from an xtensor expression of static rank; its extents are dynamic.
template <class X>
    requires xtensor_expression<X>
auto constant(const X& x) {
    using T = host_element<X>;
    constexpr std::size_t rank = std::tuple_size_v<typename std::remove_cvref_t<X>::shape_type>;
    return detail::dynamic_constant<T>(detail::owned_copy(to_any_array<T>(x)), std::make_index_sequence<rank>{});
}

/// A constant from a range: one dynamic extent, or the given static ones.
template <flat_range X> auto constant(const X& x) {
    using T = host_element<X>;
    return constant_value<T, dyn>(detail::owned_copy(to_any_array<T>(x, dims{dyn})));
}
template <index_t First, index_t... D, flat_range X> auto constant(const X& x) {
    using T = host_element<X>;
    return constant_value<T, First, D...>(detail::owned_copy(to_any_array<T>(x, dims{First, D...})));
}

/// A constant whose type is known at run time only.
any_tensor constant(const any_array& value);

} // namespace rill::inline RILL_ABI

#if !RILL_COMPILED
#include <rill/expr/constant.ipp>
#endif
