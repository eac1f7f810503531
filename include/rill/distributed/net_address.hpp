// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <string_view>

#include <rill/config.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

/// The address of a task, read from text. "host:port", "tcp://host:port" and "zmq://host:port" are a port of a machine. "ipc://path" is a
/// file of this machine. All other text names a task in this process.
struct net_address {
    enum class network { process, tcp, ipc };
    network reached_by = network::process;
    std::string host; // a path or a name for the other networks
    std::string port; // 0: a free one

    /// Returns the canonical form of the address: "tcp://host:port", "ipc://path" or "local://name".
    std::string target() const;
    /// Returns true if only processes of this machine can reach the address.
    bool is_loopback() const;
};

/// Parses an address. Throws invalid_argument for text that names a network but has no valid host and port.
net_address parse_address(std::string_view text);

}}} // namespace rill::RILL_ABI::detail

#if !RILL_COMPILED
#include <rill/distributed/net_address.ipp>
#endif
