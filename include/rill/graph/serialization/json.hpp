// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include <rill/graph/graph.hpp>

#if !RILL_COMPILED && !RILL_KERNELS_HAVE_JSON
#error "rill/graph/serialization/json.hpp needs the header of nlohmann_json (Debian: nlohmann-json3-dev)"
#elif RILL_COMPILED && !RILL_KERNELS_HAVE_JSON
#error                                                                                                                 \
    "rill/graph/serialization/json.hpp: this rill::kernels was built without nlohmann_json; install it and configure again"
#endif

namespace rill { inline namespace RILL_ABI {

/// Returns a graph as JSON for people and tools: nodes, collections, initializers and the seed. A node has its name, op, fields,
/// inputs ("x:0"), control inputs, device and outputs. Long arrays are cut after their first elements. No function reads this form;
/// serialization.hpp has one that can be read.
std::string to_json(const graph& g);

}} // namespace rill::RILL_ABI

#if !RILL_COMPILED
#include <rill/graph/serialization/json.ipp>
#endif
