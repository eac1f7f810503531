// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <arpa/inet.h>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <netinet/in.h>
#include <poll.h>
#include <set>
#include <stdexcept>
#include <string>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include <rill/distributed/zmq_transport.hpp>

#include "seeds.hpp"

/// Stands between two ends of TCP connections. After a number of bytes that a seed draws it cuts a connection: by a reset, or in silence with
/// the bytes that were under way. It can also hold bytes back and close nothing, as a network does that is cut off.
class tcp_relay {
public:
    /// `port`: where the other end listens on this machine.
    tcp_relay(int port, std::uint64_t seed, std::size_t most_bytes)
        : port_(port), draws_(seed), most_bytes_(most_bytes), listens_(socket(AF_INET, SOCK_STREAM, 0)) {
        auto at = address(0);
        socklen_t size = sizeof at;
        if (bind(listens_, reinterpret_cast<sockaddr*>(&at), size) != 0 || listen(listens_, 64) != 0 ||
            getsockname(listens_, reinterpret_cast<sockaddr*>(&at), &size) != 0)
            throw std::runtime_error("a relay can't listen");
        own_port_ = ntohs(at.sin_port);
        thread_ = std::thread([this] { run(); });
    }
    tcp_relay(const tcp_relay&) = delete;
    ~tcp_relay() {
        is_over_ = true;
        thread_.join();
        close(listens_);
    }

    int port() const { return own_port_; }
    /// Holds back what the connecting ends send (`forth`), what the other ends send (`back`), and new connections, or lets all of it go on.
    void hold(bool forth, bool back) {
        holds_[0] = forth;
        holds_[1] = back;
    }
    int cuts() const { return cuts_; }

private:
    struct link {
        int ends[2];
        std::size_t bytes_left;
        bool resets;
    };

    static sockaddr_in address(int port) {
        sockaddr_in at{};
        at.sin_family = AF_INET;
        at.sin_port = htons(static_cast<std::uint16_t>(port));
        at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        return at;
    }
    void accept_one() {
        const int from = accept(listens_, nullptr, nullptr), to = socket(AF_INET, SOCK_STREAM, 0);
        const auto at = address(port_);
        if (from < 0 || ::connect(to, reinterpret_cast<const sockaddr*>(&at), sizeof at) != 0) {
            close(from);
            close(to);
            return;
        }
        links_.push_back({{from, to}, most_bytes_ / 4 + draws_(most_bytes_), draws_(2) == 0});
    }
    /// Moves what one end has sent to the other. Returns false once the connection is cut or has ended.
    bool move(link& l, int from) {
        char bytes[16384];
        const auto n = recv(l.ends[from], bytes, sizeof bytes, MSG_DONTWAIT);
        if (n <= 0) return n < 0 && (errno == EAGAIN || errno == EINTR);
        if (static_cast<std::size_t>(n) >= l.bytes_left) {
            ++cuts_;
            if (l.resets)
                for (const int end : l.ends) {
                    const linger at_once{1, 0};
                    setsockopt(end, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
                }
            return false;
        }
        l.bytes_left -= static_cast<std::size_t>(n);
        for (ssize_t sent = 0; sent < n;) {
            const auto k = ::send(l.ends[1 - from], bytes + sent, static_cast<std::size_t>(n - sent), MSG_NOSIGNAL);
            if (k < 0) return false;
            sent += k;
        }
        return true;
    }
    void run() {
        while (!is_over_) {
            const bool holds[] = {holds_[0], holds_[1]};
            std::vector<pollfd> waits{{holds[0] || holds[1] ? -1 : listens_, POLLIN, 0}}; // poll passes over -1
            for (const auto& l : links_)
                for (int end = 0; end < 2; ++end) waits.push_back({holds[end] ? -1 : l.ends[end], POLLIN, 0});
            if (poll(waits.data(), waits.size(), 20) <= 0) continue;
            std::vector<link> rest;
            for (std::size_t i = 0; i < links_.size(); ++i) {
                bool is_open = true;
                for (int end = 0; end < 2 && is_open; ++end)
                    if (waits[1 + 2 * i + static_cast<std::size_t>(end)].revents) is_open = move(links_[i], end);
                if (is_open)
                    rest.push_back(links_[i]);
                else
                    for (const int end : links_[i].ends) close(end);
            }
            links_ = std::move(rest);
            if (waits[0].revents) accept_one();
        }
        for (const auto& l : links_)
            for (const int end : l.ends) close(end);
    }

    const int port_;
    int own_port_ = 0;
    seeds::draws draws_;
    const std::size_t most_bytes_;
    const int listens_;
    std::vector<link> links_;
    std::atomic<bool> is_over_{false}, holds_[2]{};
    std::atomic<int> cuts_{0};
    std::thread thread_;
};

/// The network of a task, all of whose TCP connections to others lead over relays.
class relayed_net final : public rill::transport {
public:
    static constexpr std::size_t cuts_nothing = std::size_t(1) << 50; // bytes
    relayed_net(std::uint64_t seed, std::size_t most_bytes) : seed_(seed), most_bytes_(most_bytes) {}

    std::string listen(const std::string& address, receiver f) override {
        auto at = inner_.listen(address, std::move(f));
        if (is_file(at)) return at;
        const std::lock_guard lock(mutex_);
        own_ports_.insert(port_of(at));
        return at;
    }
    connection connect(const std::string& address, receiver f, const std::string& peer) override {
        if (is_file(address)) return inner_.connect(address, std::move(f), peer);
        const int port = port_of(address);
        const std::lock_guard lock(mutex_);
        auto& relay = relays_[port];
        if (!relay) relay = std::make_unique<tcp_relay>(port, seed_ + relays_.size(), most_bytes_);
        if (!own_ports_.contains(port)) relay->hold(holds_forth_, holds_back_);
        return inner_.connect("127.0.0.1:" + std::to_string(relay->port()), std::move(f), peer);
    }
    void send(connection to, rill::message_parts message) override { inner_.send(to, std::move(message)); }
    void disconnect(connection c) noexcept override { inner_.disconnect(c); }
    void close() noexcept override { inner_.close(); }
    bool needs_checksums() const noexcept override { return inner_.needs_checksums(); }

    /// Holds back what this task sends by its connections to others (`forth`), or what it receives by them (`back`). It still reaches itself.
    void hold(bool forth, bool back) {
        const std::lock_guard lock(mutex_);
        holds_forth_ = forth;
        holds_back_ = back;
        for (const auto& [port, relay] : relays_)
            if (!own_ports_.contains(port)) relay->hold(forth, back);
    }
    int cuts() const {
        const std::lock_guard lock(mutex_);
        int all = 0;
        for (const auto& [port, relay] : relays_) all += relay->cuts();
        return all;
    }

private:
    static bool is_file(const std::string& address) { return address.starts_with("ipc://"); }
    static int port_of(const std::string& address) { return std::stoi(address.substr(address.rfind(':') + 1)); }

    const std::uint64_t seed_;
    const std::size_t most_bytes_;
    mutable std::mutex mutex_;
    bool holds_forth_ = false, holds_back_ = false;
    std::set<int> own_ports_;
    std::map<int, std::unique_ptr<tcp_relay>> relays_;
    rill::zmq_transport inner_;
};
