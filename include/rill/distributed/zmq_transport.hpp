// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include <rill/core/credentials.hpp>
#include <rill/distributed/transport.hpp>

namespace rill { inline namespace RILL_ABI {

struct zmq_transport_options {
    credentials security = {};
    /// Returns the name in `security.allowed` of the task at an address; empty if unknown. Null: the name is `security.peer`.
    std::function<std::string(const std::string& address)> name_at = {};
    std::size_t most_bytes = std::size_t(4) << 30; // of a message; longer ones are dropped
};

/// A transport by ZeroMQ, between processes and machines. Addresses are "host:port", "tcp://host:port", "zmq://host:port" or
/// "ipc://path". One thread receives. send() does not copy large blocks. If a thousand messages wait for a peer, further ones are
/// dropped.
class zmq_transport final : public transport {
public:
    /// Creates a transport. Throws unimplemented in a program without ZeroMQ 4.3.3 or newer, or for keys that ZeroMQ can't use.
    explicit zmq_transport(const zmq_transport_options& options = {});
    RILL_INLINE ~zmq_transport() override;

    /// Listens at an address. Throws also permission_denied if other machines can reach it and there are no keys. Throws
    /// invalid_argument for an address of another machine. With keys it first connects with an unknown key, and throws
    /// failed_precondition unless that is refused.
    RILL_INLINE std::string listen(const std::string& address, receiver f) override;
    RILL_INLINE connection connect(const std::string& address, receiver f, const std::string& peer = {}) override;
    RILL_INLINE void send(connection to, message_parts message) override;
    RILL_INLINE void disconnect(connection c) noexcept override;
    /// Closes within half a second, whatever the peers do.
    RILL_INLINE void close() noexcept override;
    RILL_INLINE bool needs_checksums() const noexcept override;
    RILL_INLINE std::string identity(connection c) const override;

    struct state;

private:
    const std::shared_ptr<state> state_;
};

/// Returns a new pair of keys, public and secret, 40 characters each. Throws unimplemented if ZeroMQ has no CURVE.
std::pair<std::string, std::string> make_key_pair();

}} // namespace rill::RILL_ABI

#if !RILL_COMPILED
#include <rill/distributed/zmq_transport.ipp>
#include <rill/distributed/zmq_transport_frames.ipp>
#include <rill/distributed/zmq_transport_keys.ipp>
#include <rill/distributed/zmq_transport_missing.ipp>
#endif
