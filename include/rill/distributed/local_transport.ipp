// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/distributed/local_transport.hpp>

#include <deque>
#include <map>
#include <mutex>
#include <utility>

#include <rill/core/error.hpp>

namespace rill { inline namespace RILL_ABI {

/// The state that all transports of a network share. Its mutex is never held while callbacks run.
struct local_network::state : std::enable_shared_from_this<state> {
    using receiver = std::shared_ptr<const transport::receiver>;

    struct end { // a transport, known by its address
        end() = default;
    };

    /// One direction of a connection.
    struct lane {
        std::string address; // of the listener, for the direction of the connecting side; else empty
        const end* from = nullptr;
        const end* to = nullptr; // null: no listener
        receiver receive;
        transport::connection arrives_as = 0; // the connection under which the receiver answers
        std::deque<message_parts> waiting;
        bool delivers = false; // a delivery is due or under way
        bool ends = false;     // its sender has disconnected: messages sent before are still delivered
        environment::timer delivery;
    };
    struct listener {
        const end* by;
        receiver receive;
    };

    explicit state(environment& e) : runs_in(e) {}

    void send(transport::connection by, message_parts m) {
        const std::lock_guard lock(mutex);
        const auto at = lanes.find(by);
        if (at == lanes.end() || at->second.ends || (!at->second.to && !resolve(by, at->second))) return;
        auto& l = at->second;
        l.waiting.push_back(std::move(m));
        if (l.delivers) return;
        try {
            deliver_soon(by, l);
        } catch (...) { // nobody delivers the message, and the next one is to ask again
            l.waiting.pop_back();
            throw;
        }
        l.delivers = true;
    }

    /// Schedules a delivery by a timer: posted tasks would wait for steps that compute, and live peers would seem dead. The lock is held.
    void deliver_soon(transport::connection by, lane& l) {
        l.delivery = runs_in.at(runs_in.now(), [self = shared_from_this(), by] { self->deliver(by); });
    }

    /// Delivers the waiting messages of a lane, in order. After a few of them, timers that are due come first.
    void deliver(transport::connection by) {
        constexpr int most = 16;
        for (int n = 0;; ++n) {
            receiver receive;
            message_parts m;
            transport::connection as = 0;
            std::map<transport::connection, lane>::node_type gone; // destroyed after the lock is released
            {
                const std::lock_guard lock(mutex);
                const auto at = lanes.find(by);
                if (at == lanes.end()) return;
                auto& l = at->second;
                if (l.waiting.empty()) {
                    l.delivers = false;
                    if (l.ends) gone = lanes.extract(at);
                    return;
                }
                if (n >= most) try {
                        return deliver_soon(by, l);
                    } catch (...) {} // out of memory: here, then
                m = std::move(l.waiting.front());
                l.waiting.pop_front();
                receive = l.receive;
                as = l.arrives_as;
            }
            (*receive)(as, std::move(m));
        }
    }

    /// Finds the listener of a lane. Each time it is found, answers get a new connection, as after a reconnection.
    bool resolve(transport::connection by, lane& l) {
        const auto at = listeners.find(l.address);
        if (at == listeners.end()) return false;
        lane back;
        back.from = at->second.by;
        back.to = l.from;
        back.receive = answers.at(by);
        back.arrives_as = by;
        lanes.emplace(++last, std::move(back)); // first: it may fail
        l.to = at->second.by;
        l.receive = at->second.receive;
        l.arrives_as = last;
        return true;
    }

    /// Ends a lane: at once, or after its pending messages are delivered.
    void end_lane(std::map<transport::connection, lane>::iterator at, std::map<transport::connection, lane>& gone) {
        auto& l = at->second;
        if (l.waiting.empty() || !l.to || l.to == l.from) {
            gone.insert(lanes.extract(at));
        } else {
            l.from = nullptr;
            l.ends = true;
        }
    }

    environment& runs_in;
    std::mutex mutex;
    transport::connection last = 0;
    std::map<transport::connection, lane> lanes;       // by the sender's connection
    std::map<transport::connection, receiver> answers; // of the connecting sides
    std::map<std::string, listener> listeners;
};

class local_transport final : public transport {
public:
    explicit local_transport(std::shared_ptr<local_network::state> net) : net_(std::move(net)) {}
    ~local_transport() override { close(); }

    std::string listen(const std::string& address, receiver f) override {
        const std::lock_guard lock(net_->mutex);
        const local_network::state::listener made{&self_, std::make_shared<const receiver>(std::move(f))};
        if (!net_->listeners.try_emplace(address, made).second)
            throw already_exists("the address '" + address + "' is in use");
        return address;
    }

    connection connect(const std::string& address, receiver f, const std::string&) override {
        const std::lock_guard lock(net_->mutex);
        const auto id = ++net_->last;
        auto& l = net_->lanes[id];
        l.address = address;
        l.from = &self_;
        net_->answers[id] = std::make_shared<const receiver>(std::move(f));
        return id;
    }

    void send(connection to, message_parts message) override { net_->send(to, std::move(message)); }

    void disconnect(connection c) noexcept override {
        std::map<connection, local_network::state::lane> gone; // destroyed after the lock is released
        const std::lock_guard lock(net_->mutex);
        const auto at = net_->lanes.find(c);
        if (at == net_->lanes.end()) return;
        gone.insert(net_->lanes.extract(at->second.arrives_as));
        net_->end_lane(at, gone);
        net_->answers.erase(c);
    }

    void close() noexcept override {
        std::map<connection, local_network::state::lane> gone;
        const std::lock_guard lock(net_->mutex);
        std::erase_if(net_->listeners, [&](const auto& l) { return l.second.by == &self_; });
        for (auto at = net_->lanes.begin(); at != net_->lanes.end();) {
            const auto next = std::next(at);
            auto& l = at->second;
            if (l.from == &self_ || (l.to == &self_ && l.address.empty())) {
                net_->answers.erase(at->first);
                if (l.from == &self_)
                    net_->end_lane(at, gone);
                else
                    gone.insert(net_->lanes.extract(at));
            } else if (l.to == &self_) { // its sender may later find another listener there
                l.to = nullptr;
                l.waiting.clear();
            }
            at = next;
        }
    }

    bool needs_checksums() const noexcept override { return false; }

private:
    const std::shared_ptr<local_network::state> net_;
    const local_network::state::end self_;
};

RILL_COLD local_network::local_network(environment& runs_in) : state_(std::make_shared<state>(runs_in)) {}
RILL_COLD local_network::~local_network() = default;
RILL_COLD std::shared_ptr<transport> local_network::join() { return std::make_shared<local_transport>(state_); }

}} // namespace rill::RILL_ABI
