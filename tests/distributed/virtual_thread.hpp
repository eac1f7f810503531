// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <condition_variable>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>

#include "distributed/simulator.hpp"

namespace simulator {

/// A client of a simulated cluster that is written as usual code: it blocks while its steps run. It has a thread of the system, but either
/// the world runs or one client does, so that all that happens still follows from the seed.
class virtual_thread final : public rill::environment {
public:
    /// Is thrown where a killed client waits. Destructors that wait log it.
    struct killed final : std::exception {
        const char* what() const noexcept override { return "killed"; }
    };

    virtual_thread(simulated_world& world, const std::string& name) : task(world.start(name)), world_(world) {}
    ~virtual_thread() override { kill(); }

    /// Starts the client. The world must run for it to go on.
    void start(std::function<void()> f) {
        thread_ = std::thread([this, f = std::move(f)] {
            await_turn();
            try {
                if (!killed_) f();
            } catch (const killed&) {
            } catch (...) {
                problem_ = std::current_exception();
            }
            const std::lock_guard lock(mutex_);
            over_ = true;
            is_own_turn_ = false;
            changed_.notify_all();
        });
        task.post([this] { enter(); });
    }
    bool is_over() const { return over_; }
    std::exception_ptr problem() const { return problem_; }
    /// Ends the client as a killed process ends: nothing that it sends while it unwinds arrives.
    void kill() {
        if (!thread_.joinable()) return;
        if (!over_) {
            world_.kill(task);
            killed_ = true;
            while (!over_) enter();
        }
        thread_.join();
    }

    time_point now() override { return task.now(); }
    std::size_t choose(std::size_t n) override { return task.choose(n); }
    std::uint64_t draw() override { return task.draw(); }
    void post(environment::task f) override { task.post(std::move(f)); }
    timer at(time_point when, environment::task f) override { return task.at(when, std::move(f)); }
    std::unique_ptr<signal> make_signal() override { return std::make_unique<turn_signal>(*this); }

    simulated_world::task& task;

private:
    /// A signal that gives the turn to the world, and gets it back when it is notified or the time has come.
    class turn_signal final : public signal {
    public:
        explicit turn_signal(virtual_thread& of) : of_(of) {}
        void wait(std::unique_lock<std::mutex>& lock, time_point until) override {
            *waits_ = true;
            timer wakes;
            if (until != time_point::max()) wakes = of_.at(until, waker());
            lock.unlock();
            of_.leave();
            *waits_ = false;
            lock.lock();
        }
        void notify() noexcept override { of_.post(waker()); } // later: the one who notifies may hold the lock

    private:
        environment::task waker() {
            return [waits = waits_, &of = of_] {
                if (std::exchange(*waits, false)) of.enter();
            };
        }
        virtual_thread& of_;
        const std::shared_ptr<bool> waits_ = std::make_shared<bool>(false);
    };

    /// Lets the client run until it waits or ends. The world's thread calls it.
    void enter() {
        std::unique_lock lock(mutex_);
        if (over_) return;
        is_own_turn_ = true;
        changed_.notify_all();
        while (is_own_turn_) changed_.wait(lock);
    }
    /// Lets the world run until it enters again. The client's thread calls it.
    void leave() {
        {
            const std::lock_guard lock(mutex_);
            is_own_turn_ = false;
            changed_.notify_all();
        }
        await_turn();
        if (killed_ && std::uncaught_exceptions() == 0) throw killed();
    }
    void await_turn() {
        std::unique_lock lock(mutex_);
        while (!is_own_turn_) changed_.wait(lock);
    }

    simulated_world& world_;
    std::mutex mutex_;
    std::condition_variable changed_;
    bool is_own_turn_ = false, over_ = false, killed_ = false;
    std::exception_ptr problem_;
    std::thread thread_;
};

} // namespace simulator
