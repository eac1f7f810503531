// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/expr/apply.hpp>

namespace rill { inline namespace RILL_ABI {

/// A value for an edge of the graph. It owns or shares the value, so it may be stored, for instance in a std::vector<feed_value>.
struct feed_value {
    any_tensor edge;       // null: the feed is by name
    std::string edge_name; // "layer/x:0"
    any_array value;
};

namespace detail {
class feed_reference;
} // namespace detail

/// A feed that borrows its value for the run that takes it: s.run(y, feed(x, lvalue)) copies nothing. Its conversion to feed_value copies
/// the value.
class borrowed_feed {
public:
    explicit borrowed_feed(feed_value f) : borrowed_(std::move(f)) {}
    operator feed_value() const;

private:
    friend class detail::feed_reference;
    feed_value borrowed_;
};

/// The types that feed() returns.
template <class F>
concept any_feed =
    std::is_same_v<std::remove_cvref_t<F>, feed_value> || std::is_same_v<std::remove_cvref_t<F>, borrowed_feed>;

/// True if run() accepts the feed: a temporary, or a stored feed_value.
template <class F>
inline constexpr bool may_be_fed =
    std::is_same_v<F, borrowed_feed> || std::is_same_v<std::remove_cvref_t<F>, feed_value>;

namespace detail {

/// A feed as an argument of a run.
class feed_reference {
public:
    feed_reference(const feed_value& f) : feed_(&f) {}
    feed_reference(borrowed_feed&& f) : feed_(&f.borrowed_) {}
    feed_reference(const borrowed_feed&) = delete; // a stored feed may outlive its value; store a feed_value
    const feed_value* get() const { return feed_; }

private:
    const feed_value* feed_;
};

/// An xtensor container, which owns its elements. Views and adaptors may refer to memory of others.
template <class X>
concept xtensor_container = xtensor_expression<X> && std::is_default_constructible_v<std::remove_cvref_t<X>>;

/// True if a feed of a value passed as X&& may point to memory that it does not own.
template <class X>
inline constexpr bool is_borrowed =
    std::is_lvalue_reference_v<X>
        ? xtensor_expression<X> || flat_range<X>
        : (xtensor_expression<X> && !xtensor_container<X>) || (flat_range<X> && std::ranges::borrowed_range<X>);
template <class X> using feed_of = std::conditional_t<is_borrowed<X>, borrowed_feed, feed_value>;

} // namespace detail

/// A host value that can be fed to a tensor of element type T: its elements are T, or it is a number that fits.
template <class X, class T>
concept feeds_as = std::is_same_v<std::remove_cvref_t<X>, any_array> || std::is_same_v<host_element<X>, T> ||
                   (literal<std::remove_cvref_t<X>> && literal_fits<T, std::remove_cvref_t<X>>);

namespace detail {

void check_feed(const endpoint& e, const tensor_type& given, const dims& promised = dims::unknown());

/// Throws invalid_argument if the number of elements of a user's array overflows.
void check_countable(const endpoint& e, const any_array& given);

/// Stack space in a call for a fed number, which the run borrows.
struct number_room {
    alignas(16) std::byte bytes[16];
};

template <class T, class X>
any_array host_value_for(const endpoint& e, const dims& wanted, X&& x, number_room* room = nullptr) {
    try {
        if constexpr (literal<std::remove_cvref_t<X>>) {
            const T value = literal_value<T>(x, "feed");
            if (!room) return to_any_array<T>(value);
            return any_array(dtype_of<T>, {}, new (room->bytes) T(value), nullptr);
        } else
            return to_any_array<T>(std::forward<X>(x), wanted);
    } catch (const invalid_argument& problem) {
        throw invalid_argument("feed: '" + name_of(e) + "': " + problem.what() + " (" + place_of(*e.from) + ")");
    }
}

/// Returns the array for an edge, checked against its node's type and its handle's extents. With `room`, the array borrows a number from
/// there.
template <class E, class X>
any_array checked_feed(const E& edge, X&& x, const std::source_location& where = {}, number_room* room = nullptr) {
    const endpoint& e = edge.end();
    if (!e) refuse_null("feed", where);
    if constexpr (typed_operand<E>) {
        constexpr const dims& promised = extents_of<E>::value;
        auto host = [&] {
            if constexpr (flat_range<X>)
                return host_value_for<value_type_of<E>>(e, rules::merge(type_of(e).shape, promised),
                                                        std::forward<X>(x));
            else
                return host_value_for<value_type_of<E>>(e, promised, std::forward<X>(x), room);
        }();
        if constexpr (std::is_same_v<std::remove_cvref_t<X>, any_array>) check_countable(e, host);
        check_feed(e, host.type(), promised);
        return host;
    } else {
        any_array host;
        if constexpr (std::is_same_v<std::remove_cvref_t<X>, any_array>)
            check_countable(e, host = std::forward<X>(x));
        else
            host = host_value_for<host_element<X>>(e, type_of(e).shape, std::forward<X>(x), room);
        check_feed(e, host.type());
        return host;
    }
}

} // namespace detail

/// Feeds an edge: feed(x, value). The value is an xtensor expression, flat data (std::vector, std::span), nested braces, or a number for
/// rank 0. Lvalues and views are borrowed and must live until the run returns. A feed that is stored as a feed_value copies its value.
template <typed_operand E, class X>
detail::feed_of<X> feed(const E& e, X&& value, const std::source_location& where = std::source_location::current()) {
    static_assert(
        !detail::is_expression<E>,
        "feed: an unsealed expression is not an edge of the graph; seal it with `tensor t = …` and feed that");
    static_assert(!is_constant_value<E>,
                  "feed: a constant is not an edge of the graph; seal it with `tensor t = …` and feed that");
    static_assert(detail::is_expression<E> || feeds_as<X, value_type_of<E>>,
                  "feed: the value's element type differs from the tensor's");
    if constexpr (requires { e.end(); } && feeds_as<X, value_type_of<E>>) {
        return detail::feed_of<X>(feed_value{e, {}, detail::checked_feed(e, std::forward<X>(value), where)});
    } else {
        return detail::feed_of<X>(feed_value());
    }
}
/// Feeds nested braces: feed(x, {{1.f, 2.f}, {3.f, 4.f}}).
template <class T, index_t... D>
    requires(sizeof...(D) > 0)
feed_value feed(const tensor<T, D...>& e, nested_list<T, static_cast<int>(sizeof...(D))> values,
                const std::source_location& where = std::source_location::current()) {
    return {e, {}, detail::checked_feed(e, list_to_any_array<T, static_cast<int>(sizeof...(D))>(values), where)};
}
/// Feeds an edge whose type is known at run time only.
template <untyped_operand E, class X>
detail::feed_of<X> feed(const E& e, X&& value, const std::source_location& where = std::source_location::current()) {
    return detail::feed_of<X>(feed_value{e, {}, detail::checked_feed(e, std::forward<X>(value), where)});
}
/// Feeds an edge by name: feed("layer/x:0", value).
template <class X> detail::feed_of<X> feed(const std::string& name, X&& value) {
    if constexpr (std::is_same_v<std::remove_cvref_t<X>, any_array>)
        return {{}, name, std::forward<X>(value)};
    else
        return detail::feed_of<X>(feed_value{{}, name, to_any_array<host_element<X>>(std::forward<X>(value))});
}

/// A fetch by name: its value is an any_array.
struct named_fetch {
    std::string name;
};
inline named_fetch fetch(std::string name) { return {std::move(name)}; }

}} // namespace rill::RILL_ABI

#if !RILL_COMPILED
#include <rill/session/feed.ipp>
#endif
