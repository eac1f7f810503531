// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <tuple>
#include <utility>

#include <rill/core/hash_map.hpp>
#include <rill/core/shared.hpp>
#include <rill/eager/value_and_grad.hpp>
#include <rill/session/local_session_core.hpp>
#include <rill/train/optimizer.hpp>

namespace rill { inline namespace RILL_ABI {

namespace detail {

/// The values of the variables of private graphs, by name: all these graphs share them.
class eager_states {
public:
    /// Adds the node of a variable to the current graph.
    endpoint add(const eager_state& v);
    /// Returns a session in which each variable of a graph has the value of its name. New variables get their initial value.
    std::shared_ptr<local_session_core> session_of(const graph& g);

private:
    hash_map<std::string, std::shared_ptr<variable_state>> values_;
};

/// An optimizer and its variables.
template <class Optimizer, class... V> struct eager_training {
    Optimizer optimizer;
    std::tuple<V...> variables;
    std::mutex mutex = {};
    eager_states states = {};

    /// Calls f with the variables as tensors of a new graph. All nodes run on the host, where the values are.
    template <class F> auto in_a_graph(const F& f) {
        const std::lock_guard lock(mutex);
        const graph home;
        const graph_scope here(home);
        const device_scope on("/device:cpu:0");
        return std::apply(
            [&](const V&... v) {
                const std::tuple<typename V::tensor_type...> nodes{
                    typename V::tensor_type(unchecked, any_tensor(states.add(v.state())))...}; // braces: in order
                return f(home, nodes);
            },
            variables);
    }
};

/// Runs an update with gradients that are fed.
template <class Optimizer, class... V> auto trace_update(eager_training<Optimizer, V...>& t) {
    return t.in_a_graph([&](const graph& home, const auto& variables) {
        const std::tuple<decltype(input_for<V>())...> inputs{input_for<V>()...};
        std::vector<gradient_and_variable> pairs;
        [&]<std::size_t... I>(std::index_sequence<I...>) {
            (pairs.push_back({std::get<I>(inputs), std::get<I>(variables)}), ...);
        }(std::index_sequence_for<V...>{});
        using T = value_type_of<typename first_operand<typename V::tensor_type...>::type>;
        constexpr bool one_type = (std::is_same_v<value_type_of<typename V::tensor_type>, T> && ...);
        operation update;
        if constexpr (one_type)
            update = t.optimizer.template apply_gradients<T>(pairs);
        else
            update = t.optimizer.apply_gradients(pairs);
        return std::apply(
            [&](const auto&... in) {
                return callable<std::tuple<operation>, std::decay_t<decltype(in)>...>(t.states.session_of(home), update,
                                                                                      in...);
            },
            inputs);
    });
}

/// Runs a loss and the update by its gradients.
template <class F, class... X, class Optimizer, class... V>
auto trace_minimize(eager_training<Optimizer, V...>& t, const F& f) {
    return t.in_a_graph([&](const graph& home, const auto& variables) {
        const std::tuple<decltype(input_for<X>())...> inputs{input_for<X>()...};
        const auto loss = sealed(std::apply(f, std::tuple_cat(variables, inputs)));
        const operation update = t.optimizer.minimize(loss);
        return std::apply(
            [&](const auto&... in) {
                using fetched = std::tuple<std::decay_t<decltype(loss)>, operation>;
                return callable<fetched, std::decay_t<decltype(in)>...>(t.states.session_of(home),
                                                                        fetched(loss, update), in...);
            },
            inputs);
    });
}

} // namespace detail

template <class... Variables> struct eager_variables {};
template <class... Gradients> struct given_gradients {};
template <class Gradients, class Variables> inline constexpr bool a_gradient_for_each = false;
template <class... G, class... V>
inline constexpr bool a_gradient_for_each<given_gradients<G...>, eager_variables<V...>> = sizeof...(G) == sizeof...(V);

/// The result of eager_optimizer::minimize: a call makes one step, and returns the loss before the step.
template <class F, class Optimizer, class... V> class eager_step {
public:
    eager_step(std::shared_ptr<detail::eager_training<Optimizer, V...>> training, F f)
        : training_(std::move(training)), function_(std::move(f)) {}

    template <class... X> auto operator()(const X&... data) const {
        using traced = decltype(detail::trace_minimize<F, X...>(*training_, function_));
        static const std::string& key = *new std::string((std::string() + ... + detail::argument_key<X>()));
        const auto found = traces_->find<traced>(key, [&] {
            return detail::make_shared<const traced>(detail::trace_minimize<F, X...>(*training_, function_));
        });
        return std::get<0>((*found)(detail::argument_value(data)...));
    }

private:
    std::shared_ptr<detail::eager_training<Optimizer, V...>> training_;
    F function_;
    std::shared_ptr<detail::kept_traces> traces_ = detail::make_shared<detail::kept_traces>();
};

template <class... V>
inline constexpr bool are_eager_variables = sizeof...(V) > 0 && (detail::is_eager_variable<V> && ...);

/// The refused case: a variable to train has no value of its own.
template <class Optimizer, class... V> class eager_optimizer {
public:
    explicit eager_optimizer(const Optimizer&, const V&...) {
        static_assert(are_eager_variables<V...>, "eager_optimizer: an optimizer and eager variables are expected: "
                                                 "eager_optimizer train(adam(), w, b)");
    }
};

/// Training without a session, by any optimizer and eager variables: eager_optimizer train(adam(0.01f), w, b). It owns its slots and
/// counters, which all its steps share, whichever function makes them. Copies are the same optimizer.
template <class Optimizer, class... V>
    requires are_eager_variables<V...>
class eager_optimizer<Optimizer, V...> {
public:
    explicit eager_optimizer(const Optimizer& optimizer, const V&... variables)
        : training_(new detail::eager_training<Optimizer, V...>{optimizer, {variables...}}),
          update_(detail::trace_update(*training_)) {}

    /// Makes one step with given gradients, one for each variable: auto [loss, dw, db] = f(w, b, x);  train.apply(dw, db).
    template <class... G> void apply(const G&... gradients) const {
        static_assert(a_gradient_for_each<given_gradients<G...>, eager_variables<V...>>,
                      "eager_optimizer: a gradient for each variable is expected");
        if constexpr (sizeof...(G) == sizeof...(V)) update_(gradients...);
    }

    /// Returns a function of the variables and of data that makes one step. It is traced once for each list of data types.
    ///     auto step = train.minimize([](auto w, auto b, auto x, auto y) { return reduce_mean(square(w * x + b - y)); });
    ///     float loss = step(xs, ys);
    template <class F> auto minimize(F f) const { return eager_step<F, Optimizer, V...>(training_, std::move(f)); }

private:
    std::shared_ptr<detail::eager_training<Optimizer, V...>> training_;
    decltype(detail::trace_update(*std::declval<detail::eager_training<Optimizer, V...>*>())) update_;
};

}} // namespace rill::RILL_ABI

#if !RILL_COMPILED
#include <rill/train/eager_optimizer.ipp>
#endif
