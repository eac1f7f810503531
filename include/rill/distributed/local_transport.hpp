// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <string>

#include <rill/core/environment.hpp>
#include <rill/distributed/transport.hpp>

namespace rill { inline namespace RILL_ABI {

/// A network within this process: the addresses of its tasks. Timers of the environment deliver the messages.
class local_network {
public:
    explicit local_network(environment& runs_in = environment::real());
    ~local_network();

    /// Returns a transport for a task in this network.
    std::shared_ptr<transport> join();

    struct state;

private:
    std::shared_ptr<state> state_;
};

}} // namespace rill::RILL_ABI

#if !RILL_COMPILED
#include <rill/distributed/local_transport.ipp>
#endif
