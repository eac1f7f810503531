// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <tuple>
#include <vector>

#include <rill/data/element_types.hpp>
#include <rill/ops/array/placeholder.hpp>
#include <rill/ops/random/random_counter.hpp>
#include <rill/session/session.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

/// A scope in which the random ops that this thread runs belong to a call.
class random_call_scope : scoped<random_call*> {
public:
    explicit random_call_scope(random_call& call) : scoped(random_call_slot(), &call) {}
};

/// A function over tensors that a dataset calls. It has a graph and a session of its own. Several threads may call it at once. Its random
/// ops draw by the number of the element.
struct traced_function {
    graph home;
    std::vector<any_tensor> inputs, outputs;
    std::unique_ptr<session> runner;

    element_arrays operator()(element_arrays&& element, std::uint64_t number) const {
        require_component_count(element, inputs.size());
        random_call call{number};
        const random_call_scope here(call);
        std::vector<feed_value> feeds;
        for (std::size_t i = 0; i < inputs.size(); ++i) feeds.push_back({inputs[i], {}, std::move(element[i])});
        return runner->run(outputs, feeds);
    }
};

template <class T> struct placeholder_for;
template <class T, index_t... D> struct placeholder_for<tensor<T, D...>> {
    using type = placeholder<T, D...>;
};

template <class V> auto sealed_results(const V& result) {
    if constexpr (requires { std::tuple_size<V>::value; })
        return std::apply([](const auto&... each) { return std::tuple(sealed(each)...); }, result);
    else
        return std::tuple(sealed(result));
}

/// Builds the graph of a function. Returns it with the results as typed tensors.
template <class... C, class F> auto trace_function(components<C...>, const F& f) {
    auto made = std::make_shared<traced_function>();
    made->home.set_seed(current_graph().seed());
    const graph_scope here(made->home);
    const std::tuple<typename placeholder_for<C>::type...> in;
    auto results = sealed_results(std::apply([&](const auto&... x) { return f(static_cast<const C&>(x)...); }, in));
    std::apply([&](const auto&... x) { (made->inputs.push_back(x), ...); }, in);
    std::apply([&](const auto&... y) { (made->outputs.push_back(any_tensor(y)), ...); }, results);
    made->runner = std::make_unique<session>(made->home, session_options{.inter_op_threads = 0, .intra_op_threads = 0});
    return std::pair(std::move(made), std::move(results));
}

template <class> struct components_of_results;
template <class... Y> struct components_of_results<std::tuple<Y...>> {
    using type = components<Y...>;
};

}}} // namespace rill::RILL_ABI::detail
