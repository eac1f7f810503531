// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include <rill/passes/subgraph.hpp>
#include <rill/runtime/control_flow/bound_region.hpp>
#include <rill/runtime/control_flow/region_kernels.hpp>
#include <rill/runtime/plan/compile_graph.hpp>

/// The node of a loop as what binds it is given it; its inputs are of complete types.
struct loop_node {
    explicit loop_node(const rill::any_tensor& loop) {
        item.origin = loop.node();
        item.op = loop.node()->op;
        for (const auto& e : loop.node()->inputs) inputs.push_back(rill::type_of(e));
    }
    rill::subgraph::item item;
    std::vector<rill::tensor_type> inputs;
};

/// Binds the bodies of a loop of complete types, and returns f(bodies).
template <class F> auto with_bound_bodies(const rill::any_tensor& loop, const F& f) {
    using namespace rill;
    const auto [it, inputs] = loop_node(loop);
    const auto& use = *it.op->regions();
    std::vector<tensor_type> arguments(inputs.begin(), inputs.begin() + use.operands);
    if (use.how == region_attributes::form::scan)
        for (auto i = static_cast<std::size_t>(use.carried); i < arguments.size(); ++i)
            arguments[i].shape = rules::slice(arguments[i].shape);
    detail::body_plans plans;
    const auto resources = std::make_shared<detail::resource_store>(default_allocator());
    detail::compile_bodies(plans, it, {}, resources, detail::make_placement({}));
    detail::vector<detail::bound_region> bodies;
    for (const auto& b : *it.origin->bodies)
        bodies.push_back(*detail::bound_region::bind(b, plans.at(b), arguments, inputs));
    return f(bodies);
}
