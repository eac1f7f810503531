// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <rill/core/host_array.hpp>
#include <rill/expr/constant.hpp>
#include <rill/expr/tensor.hpp>
#include <rill/resources/element_source.hpp>

// The static types of a dataset's elements: components, their tensors in a graph, and their host values.

namespace rill { inline namespace RILL_ABI { namespace detail {

template <class T> struct component_of {
    using type = tensor<T>; // an element type stands for rank 0
};
template <class T, index_t... D> struct component_of<tensor<T, D...>> {
    using type = tensor<T, D...>;
};
/// The tensor type of a component: that of float is tensor<float>.
template <class T> using component = typename component_of<T>::type;

/// The value of a component on the host: a number or text, or an array.
template <class T> using host_component = host_value<value_type_of<component<T>>, extents_of<component<T>>::rank>;

template <class C, index_t N> struct batched_component;
template <class T, index_t... D, index_t N> struct batched_component<tensor<T, D...>, N> {
    using type = tensor<T, N, D...>;
};

/// The tensor type of a host value: an array has dyn extents.
template <class V> struct component_of_value {
    using type = tensor<V>;
};
template <class V>
    requires(std::is_convertible_v<V, std::string> && !xtensor_expression<V>)
struct component_of_value<V> {
    using type = tensor<std::string>;
};
template <flat_range V> struct component_of_value<V> {
    using type = tensor<host_element<V>, dyn>;
};
template <xtensor_expression V> struct component_of_value<V> {
    template <std::size_t... I>
    static tensor<typename V::value_type, (static_cast<void>(I), dyn)...> with(std::index_sequence<I...>);
    using type = decltype(with(std::make_index_sequence<std::tuple_size_v<typename V::shape_type>>()));
};
template <class T, index_t... D> struct component_of_value<constant_value<T, D...>> {
    using type = tensor<T, D...>;
};
template <class T, index_t... D> struct component_of_value<tensor<T, D...>> {
    using type = tensor<T, D...>;
};

/// The components of a function's result: one value, or a tuple of several.
template <class... C> struct components {};
/// True if components B are also components A: extents become dyn at most.
template <class A, class B> inline constexpr bool components_widen = false;
template <class... A, class... B>
    requires(sizeof...(A) == sizeof...(B))
inline constexpr bool components_widen<components<A...>, components<B...>> =
    ((std::is_same_v<value_type_of<A>, value_type_of<B>> && extents_widen<extents_of<B>, extents_of<A>>) && ...);

template <class V> struct components_of_value {
    using type = components<typename component_of_value<V>::type>;
};
template <class... V> struct components_of_value<std::tuple<V...>> {
    using type = components<typename component_of_value<std::remove_cvref_t<V>>::type...>;
};
template <class A, class B> struct components_of_value<std::pair<A, B>> : components_of_value<std::tuple<A, B>> {};
template <class V> using components_from = typename components_of_value<std::remove_cvref_t<V>>::type;

/// Returns a host value, or that of a constant, as an array that owns its elements.
template <class C, class V> any_array owned_array(V&& value) {
    using T = value_type_of<C>;
    if constexpr (is_constant_value<std::remove_cvref_t<V>>) {
        return value.value();
    } else {
        static_assert(!xtensor_expression<V> || std::is_default_constructible_v<std::remove_cvref_t<V>>,
                      "dataset: an xtensor expression refers to values that may be gone; return an xt::xtensor");
        auto array = to_any_array<T>(std::forward<V>(value), extents_of<C>::value);
        return array.is_borrowed() ? owned_copy(array) : array;
    }
}

/// Returns the arrays of a value, or of a tuple of values.
template <class... C, class V> element_arrays to_element(components<C...>, V&& value) {
    if constexpr (requires { std::tuple_size<std::remove_cvref_t<V>>::value; } && !flat_range<V>) {
        static_assert(std::tuple_size_v<std::remove_cvref_t<V>> == sizeof...(C),
                      "dataset: a function gave another number of components");
        return std::apply(
            [](auto&&... each) { return element_arrays{owned_array<C>(std::forward<decltype(each)>(each))...}; },
            std::forward<V>(value));
    } else {
        static_assert(sizeof...(C) == 1, "dataset: a function gave one component, several are expected");
        return element_arrays{owned_array<C...>(std::forward<V>(value))};
    }
}

template <class C> host_component<C> to_host_component(const any_array& a) {
    if (a.dtype() != dtype_of<value_type_of<C>> || a.shape().rank != extents_of<C>::rank)
        throw invalid_argument("dataset: a component is " + to_string(a.type()) + ", not " + to_string(static_type<C>));
    return to_host_value<value_type_of<C>, extents_of<C>::rank>(a.shape(), a.data());
}

/// Calls f with the host values of an element.
template <class... C, class F> decltype(auto) call_with(components<C...>, F&& f, const element_arrays& element) {
    require_component_count(element, sizeof...(C));
    return [&]<std::size_t... I>(std::index_sequence<I...>) -> decltype(auto) {
        return std::forward<F>(f)(to_host_component<C>(element[I])...);
    }(std::index_sequence_for<C...>());
}

/// Returns the value of an element with one component, or a tuple of several.
template <class... C> auto to_value(components<C...> all, const element_arrays& element) {
    return call_with(
        all,
        [](auto&&... each) {
            if constexpr (sizeof...(each) == 1)
                return (std::move(each), ...);
            else
                return std::tuple(std::move(each)...);
        },
        element);
}

template <class... C> std::vector<tensor_type> component_types(components<C...>) { return {static_type<C>...}; }

/// True for a callable with fixed parameter types, which is neither a generic lambda nor overloaded.
template <class F> inline constexpr bool names_its_types = requires { &std::remove_cvref_t<F>::operator(); };
template <class R, class... A> inline constexpr bool names_its_types<R (*)(A...)> = true;
template <class R, class... A> inline constexpr bool names_its_types<R(A...)> = true;

/// True if a function takes the host values of an element. A generic one counts as a function of tensors, as in loops and branches.
template <class F, class... C>
inline constexpr bool takes_host_values = // a generic function is not tried: its body may not compile
    std::conjunction_v<std::bool_constant<names_its_types<F>>, std::is_invocable<F, host_component<C>...>>;

template <class... C> struct one_or_tuple : std::type_identity<std::tuple<C...>> {};
template <class C> struct one_or_tuple<C> : std::type_identity<C> {};

/// Returns the tensors of a node's outputs: one, or a tuple of several. The result type is explicit: `auto` would add the kernels of
/// template callers to every program.
template <class... C> typename one_or_tuple<C...>::type tensors_of_outputs(components<C...>, const node* n) {
    int port = 0;
    std::tuple<C...> all{C(unchecked, any_tensor(endpoint{n, port++}))...};
    if constexpr (sizeof...(C) == 1)
        return std::get<0>(all);
    else
        return all;
}

template <class T> inline constexpr bool is_optional = false;
template <class T> inline constexpr bool is_optional<std::optional<T>> = true;

}}} // namespace rill::RILL_ABI::detail
