// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/train/moving_average.hpp>

#include <string>
#include <utility>
#include <vector>

namespace rill { inline namespace RILL_ABI {

RILL_INLINE double exponential_moving_average::checked(double decay) {
    if (!(decay >= 0 && decay <= 1)) throw invalid_argument("exponential_moving_average: the decay must be in [0, 1]");
    return decay;
}

RILL_INLINE any_tensor exponential_moving_average::average(const any_tensor& variable) const {
    const auto at = averages_.find(variable.node());
    if (at == averages_.end())
        throw not_found("exponential_moving_average: there is none of '" + variable.name() + "'; apply makes them");
    return at->second;
}

RILL_INLINE std::string exponential_moving_average::average_name(const any_tensor& variable) {
    return detail::checked_node(variable.node(), "average_name")->name + "/ExponentialMovingAverage";
}

RILL_INLINE any_tensor exponential_moving_average::add_average(const any_tensor& of) const {
    const auto& type = type_of(of.end());
    if (type.type != dtype::float32 && type.type != dtype::float64)
        throw invalid_argument("exponential_moving_average: '" + of.name() + "' is " + to_string(type) +
                               "; variables must be float32 or float64");
    const node* const first = of.graph().state().initializer(of.node());
    if (!first)
        throw invalid_argument("exponential_moving_average: '" + of.name() + "' is not a variable with a first value");
    const colocate_with beside(of);
    const detail::region_scope outside(nullptr); // the variable is in no region and waits for no node
    const detail::node_scope below(of);
    const endpoint made =
        detail::add_variable(type, "ExponentialMovingAverage", {.trainable = false}, of.node()->where);
    const detail::node_scope deeper(made);
    detail::set_initial_value(made, first->inputs[1], of.node()->where); // the initial value of the variable
    return made;
}

RILL_INLINE endpoint exponential_moving_average::share(dtype type) const {
    if (share_) return share_.as(type);
    return type == dtype::float64 ? detail::scalar_constant<double>(1 - decay_)
                                  : detail::scalar_constant<float>(1 - decay_);
}

RILL_INLINE operation exponential_moving_average::add_updates(std::vector<any_tensor> variables,
                                                              const std::source_location& where) {
    if (variables.empty())
        for (const auto& e : current_graph().collection(collections::trainable_variables)) variables.emplace_back(e);
    if (variables.empty()) throw invalid_argument("exponential_moving_average: there are no trainable variables");
    const graph_scope here(variables[0].graph());
    std::vector<operation> updates;
    for (const auto& v : variables) {
        if (averages_.contains(v.node()))
            throw already_exists("exponential_moving_average: the mean of '" + v.name() + "' is there already");
        const any_tensor& mean = averages_.try_emplace(v.node(), add_average(v)).at->second;
        updates.emplace_back(detail::add_node(current_graph(), make_op(update_op<moving_average_rule>{}),
                                              {mean, share(v.dtype()), v}, "average_" + v.node()->name));
    }
    return group(updates, "moving_averages", where);
}

}} // namespace rill::RILL_ABI
