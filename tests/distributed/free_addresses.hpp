// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include <rill/distributed/zmq_transport.hpp>

/// Returns addresses of this machine, all different, where nobody listens: "127.0.0.1:port".
inline std::vector<std::string> free_addresses(std::size_t count) {
    std::vector<std::unique_ptr<rill::zmq_transport>> held;
    std::vector<std::string> all;
    for (std::size_t i = 0; i < count; ++i) {
        held.push_back(std::make_unique<rill::zmq_transport>());
        all.push_back(held.back()->listen("127.0.0.1:0", [](auto, auto) {}).substr(6));
    }
    return all;
}
