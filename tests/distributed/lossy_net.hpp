// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <utility>

#include <rill/distributed/zmq_transport.hpp>

#include "seeds.hpp"

/// The network of a task that loses one message of `one_in` which the task sends.
class lossy_net final : public rill::transport {
public:
    lossy_net(std::uint64_t seed, std::size_t one_in) : draws_(seed), one_in_(one_in) {}

    std::string listen(const std::string& address, receiver f) override { return inner_.listen(address, std::move(f)); }
    connection connect(const std::string& address, receiver f, const std::string& peer) override {
        return inner_.connect(address, std::move(f), peer);
    }
    void send(connection to, rill::message_parts message) override {
        {
            const std::lock_guard lock(mutex_);
            ++sent;
            if (draws_(one_in_) == 0) {
                ++lost;
                return;
            }
        }
        inner_.send(to, std::move(message));
    }
    void disconnect(connection c) noexcept override { inner_.disconnect(c); }
    void close() noexcept override { inner_.close(); }
    bool needs_checksums() const noexcept override { return inner_.needs_checksums(); }

    std::size_t sent = 0, lost = 0;

private:
    rill::zmq_transport inner_;
    std::mutex mutex_;
    seeds::draws draws_;
    const std::size_t one_in_;
};
