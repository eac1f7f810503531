// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <rill/core/environment.hpp>
#include <rill/core/error.hpp>
#include <rill/distributed/transport.hpp>
#include <rill/distributed/wire_message.hpp>

#include "virtual_environment.hpp"

// Clusters in virtual time and in one thread. All that happens follows from a seed, and the log tells it: two runs of a seed have equal
// logs. A task may be killed, frozen or slow; connections break, and tasks lose sight of each other, in both directions or in one.

namespace simulator {

using rill::message_parts;
using rill::transport;

/// The faults that happen by themselves.
struct faults {
    std::size_t reset_one_in = 0;            // a message in so many breaks its connection; 0: none
    std::chrono::microseconds latency{1000}; // the longest
};

class simulated_net;

/// The clock of a cluster, and its tasks.
class simulated_world {
public:
    /// A task's view of the world: what it has posted and set runs while the task lives.
    class task final : public rill::environment {
    public:
        task(simulated_world& world, std::string called)
            : name(std::move(called)), world_(world), ahead_(world.clocks_ahead[name]) {}
        time_point now() override { return world_.time.now() + ahead_; }
        std::size_t choose(std::size_t n) override { return world_.time.choose(n); }
        std::uint64_t draw() override { return world_.time.draw(); }
        void post(environment::task f) override { world_.time.post(held_while_frozen(std::move(f))); }
        timer at(time_point when, environment::task f) override {
            return world_.time.at(in_world(when), held_while_frozen(std::move(f)));
        }
        std::unique_ptr<signal> make_signal() override {
            return std::make_unique<shifted_signal>(*this, world_.time.make_signal());
        }

        bool is_dead() const { return dead_; }

        const std::string name;

    private:
        friend class simulated_world;
        friend class simulated_net;
        /// A signal whose times are those of the task's clock.
        class shifted_signal final : public signal {
        public:
            shifted_signal(const task& by, std::unique_ptr<signal> of) : by_(by), of_(std::move(of)) {}
            void wait(std::unique_lock<std::mutex>& lock, time_point until) override { of_->wait(lock, by_.in_world(until)); }
            void notify() noexcept override { of_->notify(); }

        private:
            const task& by_;
            std::unique_ptr<signal> of_;
        };
        /// Returns the world's time at a time of the task's clock.
        time_point in_world(time_point t) const { return t == time_point::max() ? t : t - ahead_; }
        environment::task held_while_frozen(environment::task f) {
            return [this, f = std::move(f)] {
                if (lag_.count() > 0)
                    world_.after(lag_, [this, f] { run_or_hold(f); });
                else
                    run_or_hold(f);
            };
        }
        void run_or_hold(const environment::task& f) {
            if (dead_) return;
            if (frozen_)
                held_.push_back(f);
            else
                f();
        }

        simulated_world& world_;
        const std::chrono::nanoseconds ahead_;
        bool dead_ = false, frozen_ = false;
        std::chrono::nanoseconds lag_{};
        std::vector<environment::task> held_;
    };

    explicit simulated_world(std::uint64_t seed, const faults& f = {})
        : time(seed), draws(seed * 31 + 7), goes_wrong(f) {}

    /// Starts a task. A name may start again after it was killed.
    task& start(const std::string& name) {
        time.note("start " + name);
        tasks_.push_back(std::make_unique<task>(*this, name));
        return *tasks_.back();
    }
    /// Ends a task at once: nothing of it runs any more, and nobody is told.
    void kill(task& t) {
        time.note("kill " + t.name);
        t.dead_ = true;
        t.held_.clear();
    }
    void freeze(task& t) {
        time.note("freeze " + t.name);
        t.frozen_ = true;
    }
    void thaw(task& t) {
        time.note("thaw " + t.name);
        t.frozen_ = false;
        for (auto& f : std::exchange(t.held_, {})) t.post(std::move(f));
    }
    /// Delays all that a task does from now on: by as much each time it runs.
    void slow_down(task& t, std::chrono::nanoseconds lag) {
        time.note("slow " + t.name + " by " + std::to_string(lag.count()));
        t.lag_ = lag;
    }
    /// Calls f at that time from now on.
    void after(std::chrono::nanoseconds d, std::function<void()> f) {
        const auto number = ++last_;
        timers_[number] = time.at(time.now() + d, [this, number, f = std::move(f)] {
            const auto own = timers_.extract(number);
            f();
        });
    }
    /// Cuts or mends the link between two tasks, by their names, in both directions.
    void part(const std::string& a, const std::string& b, bool cut) {
        part_way(a, b, cut);
        part_way(b, a, cut);
    }
    /// Cuts or mends one direction of a link.
    void part_way(const std::string& from, const std::string& to, bool cut) {
        time.note((cut ? "part " : "join ") + from + " -> " + to);
        if (cut)
            parted_.emplace(from, to);
        else
            parted_.erase({from, to});
    }
    /// Lets nothing through to an address any more, as a firewall does.
    void shut(const std::string& address) {
        listeners_.erase(address);
        for (auto& [id, l] : lanes_)
            if (l.address == address) reset(id);
    }
    bool are_parted(const std::string& from, const std::string& to) const { return parted_.contains({from, to}); }

    std::map<std::string, std::chrono::nanoseconds> clocks_ahead; // of tasks whose clocks are wrong, before they start
    virtual_environment time;
    seeds::draws draws;
    const faults goes_wrong;

private:
    friend class simulated_net;
    struct listener {
        task* by;
        std::shared_ptr<const transport::receiver> receive;
    };
    /// One direction of a connection.
    struct lane {
        std::string address; // of the direction in which somebody connected
        task* from = nullptr;
        task* to = nullptr; // null: broken, or nobody there
        std::shared_ptr<const transport::receiver> receive, answers;
        transport::connection arrives_as = 0;
        rill::environment::time_point last_arrival{};
        std::uint64_t life = 0; // a message of an earlier life is lost
        std::shared_ptr<std::deque<message_parts>> inbox = std::make_shared<std::deque<message_parts>>(); // has arrived
    };

    void send(transport::connection by, message_parts m) {
        const auto at = lanes_.find(by);
        if (at == lanes_.end()) return;
        auto& l = at->second;
        if (!l.to) {
            const auto there = listeners_.find(l.address);
            if (there == listeners_.end() || there->second.by->dead_) return;
            l.to = there->second.by;
            l.receive = there->second.receive;
            l.arrives_as = ++last_;
            l.last_arrival = time.now();
            ++l.life;
            lane back;
            back.from = l.to;
            back.to = l.from;
            back.receive = l.answers;
            back.arrives_as = by;
            lanes_[l.arrives_as] = back;
        }
        const auto what = [&] {
            const auto read = rill::detail::unpack_message(m);
            return read ? std::to_string(static_cast<int>(read->head.type)) + " " + std::to_string(read->head.request)
                        : std::string("?");
        }();
        const auto link =
            l.from->name + " -> " + l.to->name + " " + what + (l.address.empty() ? "" : " at " + l.address);
        if (are_parted(l.from->name, l.to->name)) return time.note("lost " + link);
        if (goes_wrong.reset_one_in && draws(goes_wrong.reset_one_in) == 0) {
            time.note("reset " + link);
            return reset(by);
        }
        const auto delay = std::chrono::microseconds(draws(static_cast<std::size_t>(goes_wrong.latency.count()) + 1));
        l.last_arrival = std::max(l.last_arrival, time.now() + delay); // in order
        after(l.last_arrival - time.now(), [this, by, link, life = l.life, m = std::move(m)] {
            const auto to = lanes_.find(by);
            if (to == lanes_.end() || !to->second.to || to->second.life != life) return;
            time.note("took " + link);
            to->second.inbox->push_back(m); // tasks run in any order, the messages of a connection do not
            to->second.to->post([receive = to->second.receive, as = to->second.arrives_as, inbox = to->second.inbox] {
                const auto next = std::move(inbox->front());
                inbox->pop_front();
                (*receive)(as, next);
            });
        });
    }
    /// Breaks a connection: what is under way is lost in both directions. Whoever connected does so again with the next message.
    void reset(transport::connection either) {
        const auto at = lanes_.find(either);
        if (at == lanes_.end()) return;
        const auto forth = at->second.address.empty() ? at->second.arrives_as : either;
        auto& l = lanes_.at(forth);
        lanes_.erase(l.arrives_as);
        l.to = nullptr;
        ++l.life;
    }

    std::vector<std::unique_ptr<task>> tasks_;
    std::map<std::uint64_t, rill::environment::timer> timers_;
    std::set<std::pair<std::string, std::string>> parted_; // from, to
    std::map<std::string, listener> listeners_;
    std::map<transport::connection, lane> lanes_;
    std::uint64_t last_ = 0;
};

/// A task's end of the simulated network.
class simulated_net final : public transport {
public:
    explicit simulated_net(simulated_world& world, simulated_world::task& t) : world_(world), task_(t) {}
    ~simulated_net() override { close(); }

    std::string listen(const std::string& address, receiver f) override {
        auto& there = world_.listeners_[address];
        if (there.by && !there.by->dead_) throw rill::already_exists("the address '" + address + "' is in use");
        there = {&task_, std::make_shared<const receiver>(std::move(f))};
        return address;
    }
    connection connect(const std::string& address, receiver f, const std::string& = {}) override {
        const auto id = ++world_.last_;
        auto& l = world_.lanes_[id];
        l.address = address;
        l.from = &task_;
        l.answers = std::make_shared<const receiver>(std::move(f));
        return id;
    }
    void send(connection to, message_parts message) override {
        if (!task_.dead_) world_.send(to, std::move(message));
    }
    void disconnect(connection c) noexcept override {
        world_.reset(c);
        world_.lanes_.erase(c);
    }
    void close() noexcept override {
        std::erase_if(world_.listeners_, [&](const auto& l) { return l.second.by == &task_; });
        std::vector<connection> own;
        for (const auto& [id, l] : world_.lanes_)
            if (l.from == &task_) own.push_back(id);
        for (const auto id : own) disconnect(id);
    }
    bool needs_checksums() const noexcept override { return true; }

private:
    simulated_world& world_;
    simulated_world::task& task_;
};

} // namespace simulator
