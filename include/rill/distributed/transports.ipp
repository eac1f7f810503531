// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/distributed/transports.hpp>

#include <cstddef>

#include <rill/distributed/local_transport.hpp>
#include <rill/distributed/net_address.hpp>
#include <rill/distributed/security.hpp>
#include <rill/distributed/zmq_transport.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

/// Returns the network of servers whose options name none.
RILL_EXPORT RILL_COLD local_network& network_of_process() {
    static local_network& net = *new local_network; // leaked: servers may be static
    return net;
}

RILL_COLD std::shared_ptr<transport> make_transport(const std::string& address, const credentials& security,
                                                    const cluster_spec& cluster) {
    if (parse_address(address).reached_by == net_address::network::process) return network_of_process().join();
    zmq_transport_options o{.security = security};
    if (!cluster.jobs().empty())
        o.name_at = [cluster](const std::string& at) {
            const auto tasks = cluster.all_tasks();
            for (const auto& t : tasks)
                if (tasks.size() == 1 || parse_address(cluster.address(t)).target() == parse_address(at).target())
                    return key_name(t.job, t.task);
            return std::string();
        };
    return std::make_shared<zmq_transport>(o);
}

}}} // namespace rill::RILL_ABI::detail
