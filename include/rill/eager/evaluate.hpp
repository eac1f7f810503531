// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include <rill/core/shared.hpp>
#include <rill/core/vector.hpp>
#include <rill/ops/array/placeholder.hpp>
#include <rill/session/local_session_core.hpp>
#include <rill/session/session.hpp>

namespace rill { inline namespace RILL_ABI {

namespace detail {

/// Replaces the constants of an expression by inputs, so that one plan serves all values.
template <class A>
auto with_inputs(const A& a, std::vector<any_array>& values, std::vector<any_tensor>& inputs,
                 const std::source_location& where) {
    if constexpr (is_constant_value<A>) {
        tensor_of<value_type_of<A>, extents_of<A>> input(
            unchecked, any_tensor(add_placeholder(static_type<A>, {}, where)));
        values.push_back(a.value());
        inputs.push_back(input);
        return input;
    } else if constexpr (is_expression<A>) {
        return spread(
            [&](const auto&... x) {
                return [&]<class... Y>(std::tuple<Y...> args) {
                    return std::apply([](const auto&... y) { return expression<typename A::op_type, Y...>(y...); },
                                      args);
                }(std::tuple<decltype(with_inputs(x, values, inputs, where))...>{
                           with_inputs(x, values, inputs, where)...});
            },
            a.args());
    } else {
        return a;
    }
}

template <class A> void gather_constants(const A& a, std::vector<any_array>& values, vector<scalar_value>& scalars) {
    if constexpr (is_constant_value<A>)
        values.push_back(a.value());
    else if constexpr (is_expression<A>)
        spread([&](const auto&... x) { (gather_constants(x, values, scalars), ...); }, a.args());
    else if constexpr (requires { a.value; })
        scalars.emplace_back(a.value);
}

template <class A> inline constexpr bool constants_only = is_constant_value<A>;
template <class T> inline constexpr bool constants_only<scalar<T>> = true;
template <class Op, class... Args>
inline constexpr bool constants_only<expression<Op, Args...>> = (constants_only<Args> && ...);

/// A planned expression of constants, for one set of scalars and one set of shapes. The scalars are attributes of its nodes.
struct evaluation {
    vector<scalar_value> scalars;
    std::vector<dims> shapes;
    std::shared_ptr<local_session_core> core;
    std::shared_ptr<prepared_run> run;
};

/// An LRU cache of the evaluations of one expression type.
class kept_evaluations {
public:
    std::shared_ptr<const evaluation> find(const vector<scalar_value>& scalars, const std::vector<any_array>& values);
    void add(std::shared_ptr<const evaluation> made);

private:
    std::mutex mutex_;
    vector<std::shared_ptr<const evaluation>> kept_;
};

} // namespace detail

/// Returns the value of an expression without a session: evaluate(2.f * constant({1.f, 2.f}) + 1.f). An expression of constants runs in a
/// private graph, planned once per structure. Tensors of a graph are computed in a new session; they may depend on neither variables nor
/// placeholders.
template <graph_operand E>
auto evaluate(const E& e, const std::source_location& where = std::source_location::current()) {
    if constexpr (is_constant_value<E>) {
        return to_host_value<value_type_of<E>, extents_of<E>::rank>(e.value().shape(), e.value().data());
    } else if constexpr (detail::is_expression<E> && detail::constants_only<E>) {
        static auto& kept = *new detail::kept_evaluations; // leaked: destructors of statics may still evaluate
        std::vector<any_array> values;
        detail::vector<scalar_value> scalars;
        detail::gather_constants(e, values, scalars);
        auto planned = kept.find(scalars, values);
        if (!planned) {
            const graph home;
            const graph_scope here(home);
            detail::evaluation made;
            made.scalars = std::move(scalars);
            for (const auto& v : values) made.shapes.push_back(v.shape());
            made.core = detail::make_local_session_core(home, session_options{});
            std::vector<any_array> unused;
            std::vector<any_tensor> inputs;
            const auto over_inputs = detail::with_inputs(e, unused, inputs, where);
            detail::plan_key key;
            key.fetches = {detail::seal(over_inputs, home, {}, true, where)};
            key.feeds.assign(inputs.begin(), inputs.end());
            made.run = made.core->find_run(key);
            planned = detail::make_shared<const detail::evaluation>(std::move(made));
            kept.add(planned);
        }
        const auto result = planned->run->run(values);
        return to_host_value<value_type_of<E>, extents_of<E>::rank>(result.type(0).shape, result.data(0));
    } else {
        return session(detail::graph_of_operand(e)).run(e);
    }
}

/// Evaluates an expression that a function makes, in a graph that is destroyed afterwards:
/// evaluate([&] { return reduce_sum(constant(values)); }).
template <class Make>
    requires(!graph_operand<Make>) && requires(const Make& make) { requires graph_operand<decltype(make())>; }
auto evaluate(const Make& make, const std::source_location& where = std::source_location::current()) {
    const graph home;
    const graph_scope here(home);
    return evaluate(make(), where);
}

}} // namespace rill::RILL_ABI

#if !RILL_COMPILED
#include <rill/eager/evaluate.ipp>
#endif
