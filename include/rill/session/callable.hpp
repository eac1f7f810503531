// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/core/executor.hpp>
#include <rill/core/vector.hpp>
#include <rill/session/fetch.hpp>

#include <exception>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

namespace rill { inline namespace RILL_ABI {

namespace detail {

/// The element type of a host value in the checks of a call; dtype_tag is the same for operands.
template <class X> struct given_tag {
    using type = host_element<X>;
};
template <literal X> struct given_tag<X> {
    using type = number<X>;
};
template <> struct given_tag<any_array> {
    using type = unknown_dtype;
};

} // namespace detail

/// True if a call gives one value for each input; both are tuples of types.
template <class Values, class Inputs>
inline constexpr bool one_value_each = std::tuple_size_v<Values> == std::tuple_size_v<Inputs>;

/// True if each value's element type fits its input, where both are tuples of types.
template <class Values, class Inputs> inline constexpr bool values_fit = true;
template <class... V, class... T>
    requires(sizeof...(V) == sizeof...(T))
inline constexpr bool values_fit<std::tuple<V...>, std::tuple<T...>> = (dtypes_agree<T, V> && ...);

template <std::size_t Values, class... Arrays> inline constexpr bool one_array_each = Values == sizeof...(Arrays);

/// A prepared run with fixed fetches and feeds; a call passes only the values. It keeps graph and plan alive, and throws `cancelled` after
/// its session has closed. Several threads may call it at once.
template <class Fetches, class... Inputs> class callable {
public:
    callable(std::shared_ptr<detail::session_core> core, Fetches fetches, Inputs... inputs)
        : core_(std::move(core)), fetches_(std::move(fetches)), inputs_(std::move(inputs)...) {
        detail::fetch_list list(*core_);
        std::apply([&](const auto&... f) { (list.add(f), ...); }, fetches_);
        std::apply([&](const auto&... x) { (list.key.feeds.push_back(x.end()), ...); }, inputs_);
        run_ = core_->find_run(list.key);
        operations_ = std::move(list.operations);
    }

    /// Runs with one value for each input, in the order of make_callable. Returns the fetched values as a tuple; operations add no element.
    template <class... X> auto operator()(X&&... values) const { return call(fetches_, std::forward<X>(values)...); }

    /// Returns a call that writes the values into the caller's arrays, one for each in order: step.into(array)(x). It keeps references to
    /// the arrays. See rill::into.
    template <class... A> auto into(A&... arrays) const {
        const auto given = std::tie(arrays...);
        constexpr auto arrays_wanted = []<class... X>(std::type_identity<std::tuple<X...>>) {
            return (std::size_t(0) + ... + std::size_t(!is_valueless<X>));
        }(std::type_identity<Fetches>{});
        static_assert(one_array_each<arrays_wanted, A...>, "callable: one array for each fetched value is expected");
        auto fetches = [&]<std::size_t... I>(std::index_sequence<I...>) {
            return std::tuple_cat(placed_fetch<I>(given)...);
        }(std::make_index_sequence<std::tuple_size_v<Fetches>>{});
        return [self = *this, fetches = std::move(fetches)]<class... X>(X&&... values) {
            return self.call(fetches, std::forward<X>(values)...);
        };
    }

    /// Starts a run and returns: step.start(xs, ys, [](std::exception_ptr problem, auto values) { ... }). A waiting run blocks no thread.
    /// The callback is called once, on a thread of the session's environment, with an error or with the fetched values. It must not throw.
    /// Borrowed values are copied. Throws if a value does not fit its input, and `cancelled` if the session is closed.
    template <class... A> void start(A&&... values_and_callback) const {
        constexpr bool complete = sizeof...(A) == sizeof...(Inputs) + 1;
        static_assert(complete, "callable::start: one value for each input is expected, then a callback");
        if constexpr (complete) {
            auto all = std::forward_as_tuple(std::forward<A>(values_and_callback)...);
            [&]<std::size_t... I>(std::index_sequence<I...>) {
                start_with(std::get<sizeof...(Inputs)>(std::move(all)), std::get<I>(std::move(all))...);
            }(std::index_sequence_for<Inputs...>());
        }
    }

    /// Returns a callable with a timeout or a cancellation token: step.with({.timeout = 5s})(x).
    callable with(const run_options& how) const {
        callable same = *this;
        same.how_ = how;
        return same;
    }

private:
    /// Returns a tuple with fetch I, bound to its array if it has a value.
    template <std::size_t I, class Arrays> auto placed_fetch(const Arrays& arrays) const {
        const auto& what = std::get<I>(fetches_);
        using X = std::remove_cvref_t<decltype(what)>;
        if constexpr (is_valueless<X>) {
            return std::tuple<X>(what);
        } else {
            constexpr std::size_t before = []<std::size_t... K>(std::index_sequence<K...>) {
                return (std::size_t(0) + ... + std::size_t(!is_valueless<std::tuple_element_t<K, Fetches>>));
            }(std::make_index_sequence<I>{});
            return std::tuple(rill::into(what, std::get<before>(arrays)));
        }
    }

    template <class F, class... X> void start_with(F&& callback, X&&... values) const {
        using results = decltype(call(fetches_, std::forward<X>(values)...));
        static_assert(std::is_invocable_v<std::decay_t<F>&, std::exception_ptr, results>,
                      "callable::start: the callback takes (std::exception_ptr problem, auto values)");
        number_rooms<X...> rooms;
        auto lent = arrays(std::index_sequence_for<X...>{}, rooms, std::forward<X>(values)...);
        std::vector<any_array> feeds;
        for (auto& v : lent) feeds.push_back(v.is_borrowed() ? detail::owned_copy(v) : std::move(v));
        auto done = [fetches = fetches_, operations = operations_,
                     then = std::make_shared<std::decay_t<F>>(std::forward<F>(callback))](
                        std::exception_ptr problem, std::vector<any_array> fetched) {
            results given;
            if (!problem) try {
                    const detail::step_result result(std::move(fetched));
                    detail::fetch_arrays<Fetches> into(fetches);
                    given = detail::take_values(fetches, result, into, operations);
                } catch (...) {
                    problem = std::current_exception();
                }
            const detail::executor::blocked_thread here; // the callback may block
            (*then)(std::move(problem), std::move(given));
        };
        run_->start(std::move(feeds), how_ ? *how_ : run_options{}, std::move(done));
    }

    template <class Wanted, class... X> auto call(const Wanted& fetches, X&&... values) const {
        using given = std::tuple<typename detail::given_tag<std::remove_cvref_t<X>>::type...>;
        using wanted = std::tuple<dtype_tag<Inputs>...>;
        static_assert(
            one_value_each<given, wanted>,
            "callable: one value for each input is expected, in the order of the inputs given to make_callable");
        static_assert(values_fit<given, wanted>,
                      "callable: a value's element type differs from its input's; values come "
                      "in the order of the inputs given to make_callable");
        detail::fetch_arrays<Wanted> into(fetches);
        if constexpr (one_value_each<given, wanted> && values_fit<given, wanted>) {
            number_rooms<X...> rooms;
            const auto feeds = arrays(std::index_sequence_for<X...>{}, rooms, std::forward<X>(values)...);
            const auto result = run_->run(feeds, into.places_without(operations_), how_ ? &*how_ : nullptr);
            return detail::take_values(fetches, result, into, operations_);
        } else { // a static_assert has reported the error
            return detail::take_values(fetches, run_->run({}), into, operations_);
        }
    }

    template <class... X> using number_rooms = std::array<detail::number_room, sizeof...(X)>;

    /// Returns the feeds of a call; numbers are borrowed from `rooms`.
    template <std::size_t... I, class... X>
    std::array<any_array, sizeof...(X)> arrays(std::index_sequence<I...>, number_rooms<X...>& rooms,
                                               X&&... values) const {
        return {detail::checked_feed(std::get<I>(inputs_), std::forward<X>(values), {}, &rooms[I])...};
    }

    std::shared_ptr<detail::session_core> core_;
    Fetches fetches_;
    std::tuple<Inputs...> inputs_;
    std::shared_ptr<detail::prepared_run> run_;
    std::vector<std::size_t> operations_; // positions of fetched names that are operations
    std::optional<run_options> how_;
};

}} // namespace rill::RILL_ABI
