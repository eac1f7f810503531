// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/runtime/feed.hpp>
#include <rill/runtime/session_core.hpp>

namespace rill::inline RILL_ABI {

/// An operation: a node without a value, or whose value is not wanted.
template <class X>
concept operation_like = std::is_base_of_v<operation, X>;

/// What a run can be asked for: a tensor of any kind, an operation, a name, or a vector of tensors.
template <class X> inline constexpr bool is_fetchable = graph_operand<X> || operation_like<X> || std::is_same_v<X, named_fetch>;
template <class X, class A> inline constexpr bool is_fetchable<std::vector<X, A>> = is_fetchable<X>;

/// Fetches that give no value: operations, and lists of them.
template <class X> inline constexpr bool is_valueless = operation_like<X>;
template <class X, class A> inline constexpr bool is_valueless<std::vector<X, A>> = is_valueless<X>;

namespace detail {

/// Gathers what is asked for, in order.
struct fetch_list {
    session_core& core;
    plan_key key;

    template <class X> void add(const X& x) {
        if constexpr (operation_like<X>) key.targets.push_back(x.node());
        else if constexpr (std::is_same_v<X, named_fetch>) key.fetches.push_back(core.edge(x.name));
        else if constexpr (typed_operand<X>) key.fetches.push_back(edge_of(x));
        else if constexpr (untyped_operand<X>) key.fetches.push_back(x.end());
        else
            for (const auto& each : x) add(each);
    }

private:
    template <class X> endpoint edge_of(const X& x) {
        // an expression is sealed where its leaves live; one made of constants alone, in the session's graph
        const graph_state* home = home_of(x);
        return seal(x, home ? graph(const_cast<graph_state&>(*home)) : core.graph());
    }
};

template <class X> struct is_vector : std::false_type {};
template <class X, class A> struct is_vector<std::vector<X, A>> : std::true_type {};

/// The host value of a fetch; operations give none.
template <class X> auto take_value(const X& x, const step_result& r, std::size_t& at) {
    if constexpr (typed_operand<X>) {
        const std::size_t i = at++;
        const dims& shape = r.type(i).shape;
        // a handle to a tensor of unknown shape may have promised what this run did not keep
        if (!rules::compatible(extents_of<X>::value, shape))
            throw invalid_argument("fetch: a tensor of shape " + to_string(extents_of<X>::value) + " came out as " + to_string(shape));
        return to_host_value<value_type_of<X>, extents_of<X>::rank>(shape, r.data(i));
    } else if constexpr (is_vector<X>::value) {
        using element = decltype(take_value(x[0], r, at));
        std::vector<element> all;
        for (const auto& each : x) all.push_back(take_value(each, r, at));
        return all;
    } else {
        const std::size_t i = at++;
        return owned_copy(any_array(r.type(i).type, r.type(i).shape, r.data(i), nullptr));
    }
}

template <class X> auto take_tuple(const X& x, const step_result& r, std::size_t& at) {
    if constexpr (is_valueless<X>) return std::tuple<>();
    else return std::tuple(take_value(x, r, at));
}

template <class... X> auto take_values(const std::tuple<X...>& all, const step_result& r) {
    std::size_t at = 0;
    return std::apply([&](const auto&... x) {
        // braces: values are taken in order
        return [&]<class... V>(std::tuple<V...> parts) {
            return std::apply([](auto&&... p) { return std::tuple_cat(std::move(p)...); }, std::move(parts));
        }(std::tuple<decltype(take_tuple(x, r, at))...>{take_tuple(x, r, at)...});
    }, all);
}

} // namespace detail

} // namespace rill::inline RILL_ABI
