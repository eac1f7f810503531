// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include <rill/passes/subgraph.hpp>

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
