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
    /// Returns the name in `security.allowed` of the task at an address; empty if it is not known. Null: it is `security.peer`.
    std::function<std::string(const std::string& address)> name_at = {};
    std::size_t most_bytes = std::size_t(4) << 30; // of a message; longer ones are dropped
};

/// The end of a task in the network: messages between processes and machines, by ZeroMQ. Addresses are "host:port", "tcp://host:port",
/// "zmq://host:port" or "ipc://path". One thread receives; send() hands the blocks of a message over without copying large ones. A peer
/// that takes nothing loses messages once a thousand wait for it.
class zmq_transport final : public transport {
public:
    /// Throws unimplemented in a program without ZeroMQ 4.3.3 or newer, or for keys if ZeroMQ can't use them.
    explicit zmq_transport(const zmq_transport_options& options = {});
    RILL_INLINE ~zmq_transport() override;

    /// Throws also permission_denied for an address that other machines reach if there are no keys, and invalid_argument for one that
    /// this machine does not have. With keys it first connects as a stranger, and throws failed_precondition unless that is refused.
    RILL_INLINE std::string listen(const std::string& address, receiver f) override;
    RILL_INLINE connection connect(const std::string& address, receiver f, const std::string& peer = {}) override;
    RILL_INLINE void send(connection to, message_parts message) override;
    RILL_INLINE void disconnect(connection c) noexcept override;
    /// Ends within half a second, whatever the peers do.
    RILL_INLINE void close() noexcept override;
    RILL_INLINE bool needs_checksums() const noexcept override;
    RILL_INLINE std::string identity(connection c) const override;

    struct state;

private:
    const std::shared_ptr<state> state_;
};

/// Returns a new pair of keys, the public and the secret one, 40 characters each. Throws unimplemented if ZeroMQ has no CURVE.
std::pair<std::string, std::string> make_key_pair();

}} // namespace rill::RILL_ABI

#if !RILL_COMPILED
#include <rill/distributed/zmq_transport.ipp>
#include <rill/distributed/zmq_transport_frames.ipp>
#include <rill/distributed/zmq_transport_keys.ipp>
#include <rill/distributed/zmq_transport_missing.ipp>
#endif
