// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <map>

#include <rill/ops/array/placeholder.hpp>
#include <rill/ops/math/gradients.hpp>
#include <rill/runtime/session.hpp>

namespace rill { inline namespace RILL_ABI {

namespace detail {

/// The static rank of a host value: of an xtensor its own, of a range 1, of a number 0.
template <class X> constexpr int host_rank() {
    if constexpr (xtensor_expression<X>)
        return static_cast<int>(std::tuple_size_v<typename X::shape_type>);
    else
        return flat_range<X> ? 1 : 0;
}

template <class T, std::size_t... I> auto dynamic_placeholder(std::index_sequence<I...>) {
    return placeholder<T, (static_cast<void>(I), dyn)...>();
}

/// The input that stands for an argument: constants bring their static extents, host values only their rank.
template <class X> auto input_for() {
    if constexpr (typed_operand<X>)
        return tensor_of<value_type_of<X>, extents_of<X>>(
            unchecked, any_placeholder({}, dtype_of<value_type_of<X>>, extents_of<X>::value));
    else
        return dynamic_placeholder<host_element<X>>(
            std::make_index_sequence<static_cast<std::size_t>(host_rank<X>())>{});
}

template <class X> decltype(auto) argument_value(const X& x) {
    if constexpr (is_constant_value<X>)
        return x.value();
    else
        return (x);
}

template <class X> std::string argument_key() {
    if constexpr (typed_operand<X>)
        return to_string(static_type<X>) + ";";
    else
        return std::string(to_string(dtype_of<host_element<X>>)) + "/" + std::to_string(host_rank<X>()) + ";";
}

/// Traces a function over inputs for its arguments, and prepares the run of its value and gradient.
template <class F, class X, class... Y>
auto prepare_gradient(const session& run, const F& f, const X& x, const std::tuple<Y...>& rest) {
    return std::apply(
        [&](const auto&... y) {
            const auto value = sealed(f(x, y...));
            static_assert(extents_of<decltype(value)>::rank == 0,
                          "value_and_grad: the function must return a value of rank 0");
            const auto [d] = gradients(value, as_argument(x));
            return run.make_callable(std::tuple(value, d), x, y...);
        },
        rest);
}
template <class First, class... Rest, class F> auto trace_gradient(const session& run, const F& f) {
    const graph_scope here(run.graph());
    const auto x = input_for<First>();
    return prepare_gradient(run, f, x, std::tuple<decltype(input_for<Rest>())...>{input_for<Rest>()...});
}

/// A function traced for one list of argument types, in a graph of its own.
template <class F, class... X> struct traced_gradient {
    session run;
    decltype(trace_gradient<X...>(std::declval<const session&>(), std::declval<const F&>())) step;

    explicit traced_gradient(const F& f) : run(graph()), step(trace_gradient<X...>(run, f)) {}
};

} // namespace detail

/// A function that returns its value and its gradient by the first argument, as host values:
/// auto f = value_and_grad([](auto w, auto x) { return reduce_sum(square(w * x)); });  auto [value, dw] = f(w0, x0);
/// Arguments are host values or constants. The function is traced once per list of argument types, in a private graph.
template <class F> class value_and_grad {
public:
    explicit value_and_grad(F f) : function_(std::move(f)) {}

    template <class... X>
        requires(sizeof...(X) > 0)
    auto operator()(const X&... args) const {
        using traced = detail::traced_gradient<F, X...>;
        std::shared_ptr<void> found;
        {
            const std::lock_guard lock(cache_->mutex);
            auto& kept = cache_->traced[(detail::argument_key<X>() + ...)];
            if (!kept) kept = std::make_shared<traced>(function_);
            found = kept;
        }
        return static_cast<const traced*>(found.get())->step(detail::argument_value(args)...);
    }

private:
    struct cache {
        std::mutex mutex;
        std::map<std::string, std::shared_ptr<void>> traced;
    };
    F function_;
    std::shared_ptr<cache> cache_ = std::make_shared<cache>();
};

}} // namespace rill::RILL_ABI
