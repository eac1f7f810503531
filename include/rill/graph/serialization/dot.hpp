// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <iosfwd>
#include <string>

#include <rill/graph/graph.hpp>

namespace rill { inline namespace RILL_ABI {

/// Writes a graph in the language of Graphviz: `dot -Tsvg`. Nodes have a colour for each device; solid
/// edges are values, with their types, dashed ones are control edges. Bodies of loops and branches are frames of their own.
void write_dot(const graph& g, std::ostream& to);
/// Writes the graph to a file. Throws unavailable if the file can't be written.
void write_dot(const graph& g, const std::string& path);

}} // namespace rill::RILL_ABI

#if !RILL_COMPILED
#include <rill/graph/serialization/dot.ipp>
#endif
