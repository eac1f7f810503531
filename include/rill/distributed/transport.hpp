// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <rill/config.hpp>

namespace rill { inline namespace RILL_ABI {

/// A block of bytes in a message. Copies share the bytes, which no longer change.
class message_part {
public:
    message_part() = default;
    /// Refers to bytes that `owner` keeps alive.
    message_part(const void* data, std::size_t size, std::shared_ptr<const void> owner)
        : bytes_(static_cast<const char*>(data), size), owner_(std::move(owner)) {}
    explicit message_part(std::string text) {
        const auto kept = std::make_shared<const std::string>(std::move(text));
        bytes_ = *kept;
        owner_ = kept;
    }

    std::string_view bytes() const noexcept { return bytes_; }
    std::size_t size() const noexcept { return bytes_.size(); }
    const std::shared_ptr<const void>& owner() const noexcept { return owner_; }

private:
    std::string_view bytes_;
    std::shared_ptr<const void> owner_;
};

/// A message as a transport carries it: blocks of bytes. Their number and sizes arrive unchanged.
using message_parts = std::vector<message_part>;

/// A carrier of messages between tasks. A task listens at an address; others connect to it. The messages of one connection arrive in order,
/// each at most once. A transport does not report that a peer died: its users send heartbeats. Thread-safe.
class transport {
public:
    using connection = std::uint64_t; // never 0, never reused
    /// A function that receives a message. It must neither block nor throw. A transport calls it from one thread at a time for each
    /// connection, and never within send(), connect() or listen().
    using receiver = std::function<void(connection from, message_parts message)>;

    virtual ~transport() = default;
    /// Starts to receive messages sent to an address. Returns the address to connect to, with its port. Throws already_exists for an
    /// address in use.
    virtual std::string listen(const std::string& address, receiver f) = 0;
    /// Connects to an address. `f` receives the messages of the peer. A peer that has not started yet is awaited; messages to it may be
    /// lost. `peer`: the name of the listening task in lists of keys ("ps/0"), for an address that no list of tasks has.
    virtual connection connect(const std::string& address, receiver f, const std::string& peer = {}) = 0;
    /// Sends a message, or drops it if the connection is gone. It never waits.
    virtual void send(connection to, message_parts message) = 0;
    /// Ends a connection. Its receiver may still run once.
    virtual void disconnect(connection c) noexcept = 0;
    /// Ends all connections, and stops listening. A receiver that has begun may still run.
    virtual void close() noexcept = 0;
    /// Returns true if the transport may corrupt bytes without detection.
    virtual bool needs_checksums() const noexcept = 0;
    /// Returns the authenticated name of a connection's peer; empty if the transport does not authenticate.
    virtual std::string identity(connection) const { return {}; }
};

}} // namespace rill::RILL_ABI
