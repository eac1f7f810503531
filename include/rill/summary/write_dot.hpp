// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include <rill/graph/graph.hpp>

namespace rill { inline namespace RILL_ABI {

/// Returns a graph as text for Graphviz. Nodes show name and op, and their device if they request one. Edges show dtype and shape. Control
/// inputs are dashed. Name scopes are boxes. Nodes of loops and branches are in the boxes of their names.
std::string to_dot(const graph& g);

/// Writes to_dot(g) to a file: write_dot(g, "graph.dot"), then dot -Tsvg graph.dot. Throws the errors of file_system.
void write_dot(const graph& g, const std::string& path);

}} // namespace rill::RILL_ABI

#if !RILL_COMPILED
#include <rill/summary/write_dot.ipp>
#endif
