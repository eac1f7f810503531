// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Clusters: servers, and sessions whose runs are in the tasks of a cluster. A program that uses rill::kernels links rill::distributed too; one
// of headers alone links ZeroMQ (-lzmq) where its header is found.

#include <rill/distributed/launchers.hpp>
#include <rill/distributed/local_cluster.hpp>
#include <rill/distributed/security.hpp>
#include <rill/distributed/server.hpp>
#include <rill/graph/cluster_spec.hpp>
#include <rill/session/session.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

inline const bool has_servers = register_servers();

}}} // namespace rill::RILL_ABI::detail
