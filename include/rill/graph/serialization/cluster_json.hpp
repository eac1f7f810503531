// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <string_view>

#include <rill/graph/cluster_spec.hpp>

#if !RILL_COMPILED && !RILL_KERNELS_HAVE_JSON
#error "rill/graph/serialization/cluster_json.hpp needs the header of nlohmann_json (Debian: nlohmann-json3-dev)"
#elif RILL_COMPILED && !RILL_KERNELS_HAVE_JSON
#error                                                                                                                 \
    "rill/graph/serialization/cluster_json.hpp: this rill::kernels was built without nlohmann_json; install it and configure again"
#endif

namespace rill { inline namespace RILL_ABI {

/// Returns the description of a cluster as JSON: {"ps": ["10.0.0.1:2222"], "worker": ["10.0.0.2:2222"]}.
std::string to_json(const cluster_spec& cluster);

/// Reads the description of a cluster, with its jobs in the order of the text. Throws invalid_argument with the fault and its position.
cluster_spec cluster_from_json(std::string_view text);

}} // namespace rill::RILL_ABI

#if !RILL_COMPILED
#include <rill/graph/serialization/cluster_json.ipp>
#endif
