// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <rill/graph/graph.hpp>

namespace rill { inline namespace RILL_ABI {

/// A row of parameter_table: a variable.
struct parameter {
    std::string name;
    tensor_type type;
    std::int64_t count = 0; // elements; -1 if an extent is unknown
    bool is_trainable = false;
    bool is_trained = false; // an op other than its initializer writes it
};

/// Returns the variables of a graph, in order of creation.
std::vector<parameter> parameters_of(const graph& g);

/// Returns a table of the variables of a graph as text: name, type, number of elements, bytes, and whether an optimizer writes it. The last
/// lines have the sums. A trainable variable that no op updates is marked: "never trained".
std::string parameter_table(const graph& g);

}} // namespace rill::RILL_ABI

#if !RILL_COMPILED
#include <rill/train/parameter_table.ipp>
#endif
