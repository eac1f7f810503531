// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/core/host_array.hpp>
#include <rill/expr/apply.hpp>

namespace rill::inline RILL_ABI {

/// A value for an edge of the graph. Borrows from lvalues: the value must live until the run returns. Temporaries are
/// taken over.
struct feed_value {
    any_tensor edge;       // empty: by name
    std::string edge_name; // "layer/x:0"
    any_array value;
};

/// A host value that can stand for a tensor of element type T: elements of that very type, or a number that fits.
template <class X, class T>
concept feeds_as = std::is_same_v<std::remove_cvref_t<X>, any_array> || std::is_same_v<host_element<X>, T> ||
                   (literal<std::remove_cvref_t<X>> && literal_fits<T, std::remove_cvref_t<X>>);

namespace detail {

inline void check_feed(const endpoint& e, const tensor_type& given) {
    const auto& wanted = type_of(e);
    if (given.type != wanted.type || !rules::compatible(wanted.shape, given.shape))
        throw invalid_argument("feed: '" + name_of(e) + "' is " + to_string(wanted) + ", fed with " + to_string(given) + " (" +
                               place_of(*e.from) + ")");
}

template <class T, class X> any_array host_value_for(const endpoint& e, X&& x) {
    const dims& wanted = type_of(e).shape;
    try {
        if constexpr (literal<std::remove_cvref_t<X>>) return to_any_array<T>(literal_value<T>(x, "feed"));
        else return to_any_array<T>(std::forward<X>(x), wanted);
    } catch (const invalid_argument& problem) {
        throw invalid_argument("feed: '" + name_of(e) + "': " + problem.what());
    }
}

} // namespace detail

/// Feeds any edge: feed(x, value). The value is an xtensor expression, flat data (std::vector, std::span), nested braces,
/// or a number for rank 0.
template <typed_operand E, class X> feed_value feed(const E& e, X&& value) {
    static_assert(!detail::is_expression<E>,
                  "feed: an unsealed expression is no edge of the graph; seal it with `tensor t = …` and feed that");
    static_assert(!is_constant_value<E>, "feed: a constant is no edge of the graph; seal it with `tensor t = …` and feed that");
    static_assert(detail::is_expression<E> || feeds_as<X, value_type_of<E>>,
                  "feed: the value's element type differs from the tensor's");
    if constexpr (requires { e.end(); } && feeds_as<X, value_type_of<E>>) {
        auto host = detail::host_value_for<value_type_of<E>>(e.end(), std::forward<X>(value));
        detail::check_feed(e.end(), host.type());
        return {e, {}, std::move(host)};
    } else {
        return {};
    }
}
/// Nested braces: feed(x, {{1.f, 2.f}, {3.f, 4.f}}).
template <class T, index_t... D>
    requires(sizeof...(D) > 0)
feed_value feed(const tensor<T, D...>& e, nested_list<T, static_cast<int>(sizeof...(D))> values) {
    auto host = list_to_any_array<T, static_cast<int>(sizeof...(D))>(values);
    detail::check_feed(e.end(), host.type());
    return {e, {}, std::move(host)};
}
/// An edge whose type is known at run time only.
template <untyped_operand E, class X> feed_value feed(const E& e, X&& value) {
    auto host = detail::host_value_for<host_element<X>>(e.end(), std::forward<X>(value));
    detail::check_feed(e.end(), host.type());
    return {e, {}, std::move(host)};
}
/// By name: feed("layer/x:0", value).
template <class X> feed_value feed(const std::string& name, X&& value) {
    return {{}, name, to_any_array<host_element<X>>(std::forward<X>(value))};
}

/// A fetch by name: its value is an any_array.
struct named_fetch {
    std::string name;
};
inline named_fetch fetch(std::string name) { return {std::move(name)}; }

} // namespace rill::inline RILL_ABI
