// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/expr/apply.hpp>

namespace rill { inline namespace RILL_ABI {

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

void check_feed(const endpoint& e, const tensor_type& given, const dims& promised = dims::unknown());

/// Of an array of the user's own: its extents may be anything.
void check_countable(const endpoint& e, const any_array& given);

template <class T, class X> any_array host_value_for(const endpoint& e, const dims& wanted, X&& x) {
    try {
        if constexpr (literal<std::remove_cvref_t<X>>)
            return to_any_array<T>(literal_value<T>(x, "feed"));
        else
            return to_any_array<T>(std::forward<X>(x), wanted);
    } catch (const invalid_argument& problem) {
        throw invalid_argument("feed: '" + name_of(e) + "': " + problem.what() + " (" + place_of(*e.from) + ")");
    }
}

/// The value for an edge, checked against what its node knows and its handle promises.
template <class E, class X> any_array checked_feed(const E& edge, X&& x, const std::source_location& where = {}) {
    const endpoint& e = edge.end();
    if (!e) refuse_null("feed", where);
    if constexpr (typed_operand<E>) {
        constexpr const dims& promised = extents_of<E>::value;
        auto host = [&] {
            if constexpr (flat_range<X>)
                return host_value_for<value_type_of<E>>(e, rules::merge(type_of(e).shape, promised),
                                                        std::forward<X>(x));
            else
                return host_value_for<value_type_of<E>>(e, promised, std::forward<X>(x));
        }();
        if constexpr (std::is_same_v<std::remove_cvref_t<X>, any_array>) check_countable(e, host);
        check_feed(e, host.type(), promised);
        return host;
    } else {
        any_array host;
        if constexpr (std::is_same_v<std::remove_cvref_t<X>, any_array>)
            check_countable(e, host = std::forward<X>(x));
        else
            host = host_value_for<host_element<X>>(e, type_of(e).shape, std::forward<X>(x));
        check_feed(e, host.type());
        return host;
    }
}

} // namespace detail

/// Feeds any edge: feed(x, value). The value is an xtensor expression, flat data (std::vector, std::span), nested braces,
/// or a number for rank 0.
template <typed_operand E, class X>
feed_value feed(const E& e, X&& value, const std::source_location& where = std::source_location::current()) {
    static_assert(!detail::is_expression<E>,
                  "feed: an unsealed expression is no edge of the graph; seal it with `tensor t = …` and feed that");
    static_assert(!is_constant_value<E>,
                  "feed: a constant is no edge of the graph; seal it with `tensor t = …` and feed that");
    static_assert(detail::is_expression<E> || feeds_as<X, value_type_of<E>>,
                  "feed: the value's element type differs from the tensor's");
    if constexpr (requires { e.end(); } && feeds_as<X, value_type_of<E>>) {
        return {e, {}, detail::checked_feed(e, std::forward<X>(value), where)};
    } else {
        return {};
    }
}
/// Nested braces: feed(x, {{1.f, 2.f}, {3.f, 4.f}}).
template <class T, index_t... D>
    requires(sizeof...(D) > 0)
feed_value feed(const tensor<T, D...>& e, nested_list<T, static_cast<int>(sizeof...(D))> values,
                const std::source_location& where = std::source_location::current()) {
    return {e, {}, detail::checked_feed(e, list_to_any_array<T, static_cast<int>(sizeof...(D))>(values), where)};
}
/// An edge whose type is known at run time only.
template <untyped_operand E, class X>
feed_value feed(const E& e, X&& value, const std::source_location& where = std::source_location::current()) {
    return {e, {}, detail::checked_feed(e, std::forward<X>(value), where)};
}
/// By name: feed("layer/x:0", value).
template <class X> feed_value feed(const std::string& name, X&& value) {
    if constexpr (std::is_same_v<std::remove_cvref_t<X>, any_array>)
        return {{}, name, std::forward<X>(value)};
    else
        return {{}, name, to_any_array<host_element<X>>(std::forward<X>(value))};
}

/// A fetch by name: its value is an any_array.
struct named_fetch {
    std::string name;
};
inline named_fetch fetch(std::string name) { return {std::move(name)}; }

}} // namespace rill::RILL_ABI

#if !RILL_COMPILED
#include <rill/runtime/feed.ipp>
#endif
