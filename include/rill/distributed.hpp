// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Clusters: servers, and sessions whose runs execute in the tasks of a cluster. Programs that use rill::kernels must also link
// rill::distributed. Header-only programs link ZeroMQ (-lzmq) if its header is found.

#include <rill/distributed/launchers.hpp>
#include <rill/distributed/local_cluster.hpp>
#include <rill/distributed/security.hpp>
#include <rill/distributed/server.hpp>
#include <rill/graph/cluster_spec.hpp>
#include <rill/session/session.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

inline const bool has_servers = register_servers();

}}} // namespace rill::RILL_ABI::detail
