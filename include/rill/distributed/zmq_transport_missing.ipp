// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/distributed/zmq_transport.hpp>

#if !RILL_WITH_ZMQ
#include <utility>

#include <rill/core/error.hpp>

namespace rill { inline namespace RILL_ABI {

struct zmq_transport::state {};

RILL_COLD zmq_transport::zmq_transport(const zmq_transport_options&) {
    throw unimplemented(
        "this program was built without ZeroMQ: install libzmq3-dev and cppzmq-dev, and build it again");
}
RILL_COLD zmq_transport::~zmq_transport() = default;
RILL_COLD std::string zmq_transport::listen(const std::string& address, receiver) { return address; }
RILL_COLD transport::connection zmq_transport::connect(const std::string&, receiver, const std::string&) { return 0; }
RILL_COLD void zmq_transport::send(connection, message_parts) {}
RILL_COLD void zmq_transport::disconnect(connection) noexcept {}
RILL_COLD void zmq_transport::close() noexcept {}
RILL_COLD bool zmq_transport::needs_checksums() const noexcept { return false; }
RILL_COLD std::string zmq_transport::identity(connection) const { return {}; }
RILL_COLD std::pair<std::string, std::string> make_key_pair() {
    throw unimplemented("this program was built without ZeroMQ: it makes no keys");
}

}} // namespace rill::RILL_ABI
#endif
