// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <string>

#include <rill/core/credentials.hpp>
#include <rill/distributed/transport.hpp>
#include <rill/graph/cluster_spec.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

/// Returns a transport of a task or client for an address or a target: ZeroMQ for "host:port", "tcp://host:port" and "ipc://path", else
/// the network of this process. The names of the cluster's tasks select the expected keys; a client has no cluster.
std::shared_ptr<transport> make_transport(const std::string& address, const credentials& security,
                                          const cluster_spec& cluster = {});

}}} // namespace rill::RILL_ABI::detail

#if !RILL_COMPILED
#include <rill/distributed/transports.ipp>
#endif
