// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <array>
#include <span>
#include <tuple>
#include <vector>

#include <rill/core/algorithm.hpp>
#include <rill/core/platform.hpp>
#include <rill/runtime/options.hpp>
#include <rill/runtime/plan_key.hpp>
#include <rill/session/feed.hpp>
#include <rill/session/into.hpp>
#include <rill/session/session_core.hpp>

namespace rill { inline namespace RILL_ABI {

/// An operation: a node that has no value, or whose value is not fetched.
template <class X>
concept operation_like = std::is_base_of_v<operation, X>;

/// True for types that a run can fetch: tensors, operations, names, and vectors of them. A name gives an any_array, which is empty() if the
/// name is an operation's.
template <class X>
inline constexpr bool is_fetchable = graph_operand<X> || operation_like<X> || std::is_same_v<X, named_fetch>;
template <class X, class A> inline constexpr bool is_fetchable<std::vector<X, A>> = is_fetchable<X>;

template <class X, class A> inline constexpr bool is_fetchable<into_fetch<X, A>> = true;

/// True for fetches without a value: operations and vectors of them.
template <class X> inline constexpr bool is_valueless = operation_like<X>;
template <class X, class A> inline constexpr bool is_valueless<std::vector<X, A>> = is_valueless<X>;
/// True for fetches that a run returns nothing for: valueless ones, and those into an existing array.
template <class X> inline constexpr bool returns_nothing = is_valueless<X>;
template <class X, class A> inline constexpr bool returns_nothing<into_fetch<X, A>> = true;

namespace detail {

/// The fetches of a run, in order.
struct fetch_list {
    session_core& core;
    plan_key key;
    std::vector<std::size_t> operations; // positions of fetched names that are operations

    explicit fetch_list(session_core& c);
    ~fetch_list();

    template <class X> void add(const X& x) {
        if constexpr (operation_like<X>)
            target(x.node());
        else if constexpr (std::is_same_v<X, named_fetch>)
            fetch_or_target(core.fetched(x.name));
        else if constexpr (typed_operand<X>)
            fetch(edge_of(x));
        else if constexpr (untyped_operand<X>)
            fetch(x.end());
        else if constexpr (returns_nothing<X> && !is_valueless<X>)
            add(x.what);
        else
            for (const auto& each : x) add(each);
    }

private:
    template <class X> endpoint edge_of(const X& x) { return seal(x, graph_for(home_of(x))); }

    void fetch(const endpoint& e);
    void target(const node* n);
    void fetch_or_target(const endpoint& e);

    /// Returns the graph to seal an expression in: that of its leaves, or the session's if it has constants alone.
    graph graph_for(const graph_state* home) const;
};

template <class X> struct is_vector : std::false_type {};
template <class X, class A> struct is_vector<std::vector<X, A>> : std::true_type {};

/// Throws invalid_argument if a value's shape contradicts its handle.
void check_fetched(const dims& promised, const dims& came);

/// A fetch without an array of its own: the value is copied after the run.
struct copied_fetch {
    template <class X> fetch_place place(const X&) { return {}; }
};
/// A new array for a fetched value, which the run may write into directly.
template <class T, int Rank> struct placed_fetch {
    host_array<T, Rank> value;
    const dims* promised = nullptr;

    template <class X> fetch_place place(const X&) {
        promised = &extents_of<X>::value;
        return {this, [](void* fetch, const tensor_type& type) -> void* {
                    auto& to = *static_cast<placed_fetch*>(fetch);
                    if (!rules::compatible(*to.promised, type.shape)) return nullptr;
                    to.value = make_host_array<T, Rank>(type.shape);
                    prefer_large_pages(to.value.data(), to.value.size() * sizeof(T));
                    return to.value.data();
                }};
    }
};

/// The caller's array for a fetched value.
template <class A> struct given_place {
    A* array = nullptr;

    template <class X> fetch_place place(const into_fetch<X, A>& fetch) {
        array = fetch.array;
        return {array, [](void* to, const tensor_type& type) -> void* {
                    using T = host_element<A>;
                    if (type.type != dtype_of<T>) refuse_room(type.shape, "an array of another element type");
                    return room_in(*static_cast<A*>(to), type.shape);
                }};
    }
};

// Chosen by element type and rank, so that fetches of different kinds and extents share code.
template <class X> struct fetch_array_of {
    using type = copied_fetch;
};
template <class X>
    requires(typed_operand<X> && extents_of<X>::rank > 0 && std::is_trivially_copyable_v<value_type_of<X>>)
struct fetch_array_of<X> {
    using type = placed_fetch<value_type_of<X>, extents_of<X>::rank>;
};
template <class X, class A> struct fetch_array_of<into_fetch<X, A>> {
    using type = given_place<A>;
};
/// The destination of a fetch: placed_fetch for a typed tensor of rank 1 or more, given_place for into(), otherwise copied_fetch.
template <class X> using fetch_array = typename fetch_array_of<X>::type;

/// One array for each fetch of a list, and one place for each value. Lists with vectors have no places: their values are copied.
template <class List> struct fetch_arrays;
template <class... X> struct fetch_arrays<std::tuple<X...>> {
    static constexpr bool countable = !(is_vector<X>::value || ...);
    std::tuple<fetch_array<X>...> all;
    std::array<fetch_place, countable ? (0 + ... + (is_valueless<X> ? 0 : 1)) : 0> places;

    explicit fetch_arrays(const std::tuple<const X&...>& what) {
        if constexpr (countable) place_all(what, std::index_sequence_for<X...>{});
    }
    fetch_arrays(const fetch_arrays&) = delete; // places point into it

    /// Returns a place for each value, without those of fetched names that are operations.
    std::span<const fetch_place> places_without(std::span<const std::size_t> operations) {
        if (operations.empty() || places.empty()) return places;
        std::size_t kept = 0;
        for (std::size_t i = 0; i < places.size(); ++i)
            if (!detail::contains(operations, i)) places[kept++] = places[i];
        return std::span(places).first(kept);
    }

private:
    template <std::size_t... I> void place_all(const std::tuple<const X&...>& what, std::index_sequence<I...>) {
        std::size_t at = 0;
        ((is_valueless<X> ? void() : void(places[at++] = std::get<I>(all).place(std::get<I>(what)))), ...);
    }
};

/// A cursor over the fetches of a run and their values, in order.
struct value_cursor {
    std::span<const std::size_t> operations; // positions of fetched names that are operations and have no value
    std::size_t asked = 0, value = 0;

    /// Returns the index of the next value.
    std::size_t next() { return ++asked, value++; }
    bool skip_operation() {
        if (operations.empty() || operations[0] != asked) return false;
        operations = operations.subspan(1);
        return ++asked, true;
    }
};

/// Returns the value of a typed fetch.
template <class T, int Rank>
host_value<T, Rank> take_typed(const dims& promised, const step_result& r, std::size_t i, copied_fetch&) {
    const dims& shape = r.type(i).shape;
    check_fetched(promised, shape);
    return to_host_value<T, Rank>(shape, r.data(i));
}
template <class T, int Rank>
host_value<T, Rank> take_typed(const dims& promised, const step_result& r, std::size_t i, placed_fetch<T, Rank>& into) {
    if (r.placed(i)) return std::move(into.value);
    copied_fetch copied;
    return take_typed<T, Rank>(promised, r, i, copied);
}

/// Copies a value into the caller's array unless the run has written it there.
template <class A> void take_into(A& array, const step_result& r, std::size_t i) {
    if (r.placed(i)) return;
    using T = host_element<A>;
    const tensor_type& type = r.type(i);
    if (type.type != dtype_of<T>) refuse_room(type.shape, "an array of another element type");
    copy_elements(type.type, r.data(i), room_in(array, type.shape), type.shape.size());
}

/// Returns the value of a fetch whose type is known at run time only.
any_array take_untyped(const step_result& r, std::size_t i);

/// Returns the host value of a fetch; the name of an operation gives an empty any_array.
template <class X> auto take_value(const X& x, const step_result& r, value_cursor& at, fetch_array<X>& into) {
    if constexpr (typed_operand<X>) {
        return take_typed<value_type_of<X>, extents_of<X>::rank>(extents_of<X>::value, r, at.next(), into);
    } else if constexpr (is_vector<X>::value) {
        using each = typename X::value_type;
        fetch_array<each> none;
        std::vector<decltype(take_value(x[0], r, at, none))> all;
        for (const auto& e : x) all.push_back(take_value(e, r, at, none));
        return all;
    } else {
        if constexpr (std::is_same_v<X, named_fetch>)
            if (at.skip_operation()) return any_array();
        return take_untyped(r, at.next());
    }
}

template <class X> auto take_tuple(const X& x, const step_result& r, value_cursor& at, fetch_array<X>& into) {
    if constexpr (is_valueless<X>) {
        return std::tuple<>();
    } else if constexpr (returns_nothing<X>) {
        take_into(*x.array, r, at.next());
        return std::tuple<>();
    } else {
        return std::tuple(take_value(x, r, at, into));
    }
}

template <class... X, std::size_t... I>
auto take_all(const std::tuple<X...>& all, const step_result& r, fetch_arrays<std::tuple<X...>>& into, value_cursor at,
              std::index_sequence<I...>) {
    // braces fix the order of evaluation
    if constexpr (!(returns_nothing<X> || ...)) {
        return std::tuple<decltype(take_value(std::get<I>(all), r, at, std::get<I>(into.all)))...>{
            take_value(std::get<I>(all), r, at, std::get<I>(into.all))...};
    } else {
        std::tuple<decltype(take_tuple(std::get<I>(all), r, at, std::get<I>(into.all)))...> parts{
            take_tuple(std::get<I>(all), r, at, std::get<I>(into.all))...};
        return std::tuple_cat(std::move(std::get<I>(parts))...);
    }
}
template <class... X>
auto take_values(const std::tuple<X...>& all, const step_result& r, fetch_arrays<std::tuple<X...>>& into,
                 std::span<const std::size_t> operations) {
    return take_all(all, r, into, value_cursor{operations}, std::index_sequence_for<X...>{});
}

} // namespace detail

namespace detail {

/// A value or an operation at the end of a run.
struct run_end {
    endpoint at;
    template <node_handle H> run_end(const H& h) : at(handle_output(h)) {}
};

/// Returns the key of a partitioned run; nodes without outputs are targets. Registers the partitioning code.
inline plan_key key_to_cut(const std::vector<run_end>& fetches, const std::vector<run_end>& feeds) {
    register_partitioned_runs();
    plan_key key;
    for (const auto& f : fetches)
        if (f.at.from->outputs.empty())
            key.targets.push_back(f.at.from);
        else
            key.fetches.push_back(f.at);
    for (const auto& f : feeds) key.feeds.push_back(f.at);
    return key;
}

} // namespace detail

}} // namespace rill::RILL_ABI

#if !RILL_COMPILED
#include <rill/session/fetch.ipp>
#endif
