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

/// A graph as JSON, to be read by people and their tools: nodes with names, ops, fields, inputs ("x:0"), control inputs, devices and
/// outputs; collections, initializers, the seed. Of long arrays the first elements. Nothing reads it back: see serialization.hpp.
std::string to_json(const graph& g);

}} // namespace rill::RILL_ABI

#if !RILL_COMPILED
#include <rill/graph/serialization/json.ipp>
#endif
