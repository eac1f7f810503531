// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/core/hash_map.hpp>
#include <rill/core/shared.hpp>
#include <rill/eager/eager_variable.hpp>
#include <rill/ops/array/placeholder.hpp>
#include <rill/ops/math/gradients.hpp>
#include <rill/session/session.hpp>

namespace rill { inline namespace RILL_ABI {

namespace detail {

/// Returns the static rank of a host value: an xtensor's own, 1 for a range, 0 for a number.
template <class X> constexpr int host_rank() {
    if constexpr (xtensor_expression<X>)
        return static_cast<int>(std::tuple_size_v<typename X::shape_type>);
    else
        return flat_range<X> ? 1 : 0;
}

template <class T, std::size_t... I> auto dynamic_placeholder(std::index_sequence<I...>) {
    return placeholder<T, (static_cast<void>(I), dyn)...>();
}

/// The tensor type of an argument whose static type shows the extents: a constant or an eager variable.
template <class X> struct argument_tensor {};
template <typed_operand X> struct argument_tensor<X> {
    using type = tensor_of<value_type_of<X>, extents_of<X>>;
};
template <class X>
    requires is_eager_variable<X>
struct argument_tensor<X> {
    using type = typename X::tensor_type;
};

/// Returns the placeholder for an argument. For a host value it knows only the rank.
template <class X> auto input_for() {
    if constexpr (requires { typename argument_tensor<X>::type; }) {
        using Y = typename argument_tensor<X>::type;
        return Y(unchecked, any_tensor(add_placeholder(static_type<Y>, {}, std::source_location::current())));
    } else {
        return dynamic_placeholder<host_element<X>>(
            std::make_index_sequence<static_cast<std::size_t>(host_rank<X>())>{});
    }
}

template <class X> decltype(auto) argument_value(const X& x) {
    if constexpr (is_constant_value<X>)
        return x.value();
    else if constexpr (is_eager_variable<X>)
        return x.array();
    else
        return (x);
}

template <class X> std::string argument_key() {
    if constexpr (requires { typename argument_tensor<X>::type; })
        return to_string(static_type<typename argument_tensor<X>::type>) + ";";
    else
        return std::string(to_string(dtype_of<host_element<X>>)) + "/" + std::to_string(host_rank<X>()) + ";";
}

/// A cache of traced functions by their argument types.
class kept_traces {
public:
    template <class Traced, class Make> std::shared_ptr<const Traced> find(const std::string& key, const Make& make) {
        const std::lock_guard lock(mutex_);
        auto& kept = traced_[key];
        if (!kept) kept = make();
        return std::static_pointer_cast<const Traced>(kept);
    }

private:
    std::mutex mutex_;
    hash_map<std::string, std::shared_ptr<const void>> traced_;
};

/// Traces a function over inputs and prepares a run of its value and gradients. The gradients are with respect to the first Count inputs.
template <std::size_t Count, class F, class... Input>
auto prepare_gradient(const session& run, const F& f, const std::tuple<Input...>& inputs) {
    const auto value = sealed(std::apply(f, inputs));
    static_assert(extents_of<decltype(value)>::rank == 0, "value_and_grad: the function must return a value of rank 0");
    const auto d = [&]<std::size_t... I>(std::index_sequence<I...>) {
        return gradients(value, as_argument(std::get<I>(inputs))...);
    }(std::make_index_sequence<Count>{});
    return std::apply([&](const auto&... x) { return run.make_callable(std::tuple_cat(std::tuple(value), d), x...); },
                      inputs);
}
template <std::size_t Count, class F, class... X> auto trace_gradient(const session& run, const F& f) {
    const graph_scope here(run.graph());
    return prepare_gradient<Count>(run, f, std::tuple<decltype(input_for<X>())...>{input_for<X>()...});
}

/// A function traced for one list of argument types, in a graph of its own.
template <std::size_t Count, class F, class... X> struct traced_gradient {
    session run;
    decltype(trace_gradient<Count, F, X...>(std::declval<const session&>(), std::declval<const F&>())) step;

    explicit traced_gradient(const F& f) : run(graph()), step(trace_gradient<Count, F, X...>(run, f)) {}
};

} // namespace detail

template <std::size_t Count, class... X> inline constexpr bool enough_arguments = Count >= 1 && Count <= sizeof...(X);

/// The function that value_and_grad returns. Several threads may call it at once.
template <class F, std::size_t Count> class gradient_function {
public:
    explicit gradient_function(F f) : function_(std::move(f)) {}

    template <class... X>
        requires(sizeof...(X) > 0)
    auto operator()(const X&... args) const {
        static_assert(enough_arguments<Count, X...>,
                      "value_and_grad: there are fewer arguments than gradients are asked for");
        if constexpr (enough_arguments<Count, X...>) return call(args...);
    }

private:
    template <class... X> auto call(const X&... args) const {
        using traced = detail::traced_gradient<Count, F, X...>;
        static const std::string& key = *new std::string((detail::argument_key<X>() + ...)); // leaked: one per list
        const auto found = traces_->find<traced>(key, [&] { return detail::make_shared<const traced>(function_); });
        return found->step(detail::argument_value(args)...);
    }

    F function_;
    std::shared_ptr<detail::kept_traces> traces_ = detail::make_shared<detail::kept_traces>();
};

/// Returns a function that computes the value of `f` and its gradient with respect to the first argument. Results are host values:
///     auto f = value_and_grad([](auto w, auto x) { return reduce_sum(square(w * x)); });  auto [value, dw] = f(w0, x0);
/// Arguments are host values, constants or eager variables. The function is traced once per list of argument types, in a private graph.
template <class F> auto value_and_grad(F f) { return gradient_function<F, 1>(std::move(f)); }
/// Differentiates with respect to the first Count arguments: auto [value, dw, db] = value_and_grad<2>(f)(w, b, x).
template <std::size_t Count, class F> auto value_and_grad(F f) { return gradient_function<F, Count>(std::move(f)); }

}} // namespace rill::RILL_ABI
