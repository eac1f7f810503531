// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <source_location>
#include <string>
#include <utility>

#include <rill/expr/node_op.hpp>
#include <rill/graph/graph.hpp>
#include <rill/io/summary_messages.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

/// Adds the node of a summary to the graph and to the collection "summaries".
template <class Op, graph_operand X>
tensor<std::string> add_summary(const Op& op, const X& x, const std::source_location& where) {
    const tensor<std::string> made{unchecked, apply_node(op, where, x)};
    made.graph().add_to_collection(collections::summaries, made.end());
    return made;
}

}}} // namespace rill::RILL_ABI::detail
