// SPDX-License-Identifier: BSD-3-Clause
// An attack on sessions by real threads: they open sessions of a graph and of the same graph loaded from its bytes, over one set of
// containers; start steps that wait, with cancellations and timeouts; close sessions and reset containers under them. Every step ends once,
// with values or with a reason, and no element is taken twice.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <exception>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include <rill/graph/serialization/serialization.hpp>
#include <rill/ops/catalogue.hpp>
#include <rill/resources/container_set.hpp>
#include <rill/session/session.hpp>

#include "catch.hpp"
#include "seeds.hpp"

using namespace rill;

namespace test_session_random_sessions {

constexpr std::size_t threads = 4, actions = 40;

/// The steps of a graph that holds a queue and an accumulator.
struct program {
    graph g;
    operation put, apply;
    any_tensor n, take, take_grad, size;
};

program made() {
    program p;
    const graph_scope here(p.g);
    const fifo_queue<tensor<int>> queue({.capacity = 4, .name = "queue"});
    const conditional_accumulator<float> sum("sum");
    const placeholder<int> n("n");
    p.n = n;
    p.put = queue.enqueue(n);
    p.take = queue.dequeue();
    p.size = queue.size();
    p.apply = sum.apply_grad(1.f, std::int64_t(1) << 40); // never stale
    p.take_grad = sum.take_grad(1);
    return p;
}

program loaded(const program& from) {
    program p;
    p.g = graph_from_bytes(graph_to_bytes(from.g));
    const auto node_of = [&](const auto& x) { return p.g.state().find(x.node()->name); };
    const auto tensor_of = [&](const any_tensor& x) { return any_tensor(endpoint{node_of(x), x.end().port}); };
    p.put = operation(node_of(from.put));
    p.apply = operation(node_of(from.apply));
    p.n = tensor_of(from.n);
    p.take = tensor_of(from.take);
    p.take_grad = tensor_of(from.take_grad);
    p.size = tensor_of(from.size);
    return p;
}

/// What the threads have found; the main thread checks it. Callbacks share it, since the last of them may outlive the test's wait.
struct findings {
    std::atomic<int> started{0}, ended{0}, puts{0}, failed_takes{0}, applies{0}, grads{0}, resets{0}, next{0};
    std::vector<std::atomic<int>> taken = std::vector<std::atomic<int>>(threads * actions);
    std::mutex mutex;
    std::string odd; // what should not be

    void note(const std::string& what) {
        const std::lock_guard lock(mutex);
        odd += what + "\n";
    }
    /// Notes a problem that no cancellation, close or timeout explains.
    void check_problem(const std::exception_ptr& problem) {
        try {
            std::rethrow_exception(problem);
        } catch (const cancelled&) {
        } catch (const deadline_exceeded&) {
        } catch (const std::exception& other) {
            note(other.what());
        }
    }
    void end() {
        ++ended;
        ended.notify_all();
    }
    void take(int value) {
        if (value < 0 || value >= next)
            note("an element that nobody put in: " + std::to_string(value));
        else
            ++taken[static_cast<std::size_t>(value)];
    }
};

/// One of the threads.
class attacker {
public:
    attacker(const program& p, std::shared_ptr<detail::container_set> task, std::shared_ptr<findings> found,
             std::uint64_t seed)
        : p_(p), task_(std::move(task)), found_(std::move(found)), draw_(seed) {}

    void run() {
        try {
            for (std::size_t i = 0; i < actions; ++i) act();
        } catch (const std::exception& problem) {
            found_->note(problem.what());
        }
        session_.reset();
    }

private:
    void act() {
        if (!session_)
            session_.reset(new session(detail::open_session(
                p_.g, {.inter_op_threads = static_cast<int>(draw_(2)), .intra_op_threads = 0}, task_)));
        switch (draw_(24)) {
        case 0: return session_->close();
        case 1: return session_.reset();
        case 2:
            if (draw_(4) != 0) break;
            ++found_->resets;
            return task_->reset({});
        case 3:
        case 4:
            if (!tokens_.empty()) tokens_[draw_(tokens_.size())].cancel();
            return;
        default: break;
        }
        ++found_->started;
        try {
            start();
        } catch (const cancelled&) { // closed here, or by a reset
            found_->end();
            session_.reset();
        } catch (const std::exception& problem) {
            found_->note(problem.what());
            found_->end();
        }
    }

    void start() {
        run_options how;
        if (draw_(3) == 0) how.timeout = std::chrono::milliseconds(draw_(4));
        if (draw_(3) == 0) tokens_.push_back(how.cancel.emplace());
        const auto done = [found = found_](const auto& then) {
            return [found, then](std::exception_ptr problem, const auto& values) {
                if (problem) found->check_problem(problem);
                then(*found, !problem, values);
                found->end();
            };
        };
        switch (draw_(4)) {
        case 0: {
            const auto put = session_->make_callable(p_.put, p_.n).with(how);
            return put.start(found_->next++, done([](findings& f, bool good, const auto&) { f.puts += good; }));
        }
        case 1: {
            const auto take = session_->make_callable(p_.take).with(how);
            return take.start(done([](findings& f, bool good, const auto& values) {
                good ? f.take(std::get<0>(values).template value<int>()) : void(++f.failed_takes);
            }));
        }
        case 2: {
            ++found_->applies;
            const auto apply = session_->make_callable(p_.apply).with(how);
            return apply.start(done([](findings&, bool, const auto&) {}));
        }
        default: {
            const auto take_grad = session_->make_callable(p_.take_grad).with(how);
            return take_grad.start(done([](findings& f, bool good, const auto& values) {
                if (!good) return;
                ++f.grads;
                if (std::get<0>(values).template value<float>() != 1.f) f.note("a mean of ones that is not one");
            }));
        }
        }
    }

    const program& p_;
    std::shared_ptr<detail::container_set> task_;
    std::shared_ptr<findings> found_;
    seeds::draws draw_;
    std::unique_ptr<session> session_;
    std::vector<cancellation_token> tokens_;
};

TEST_CASE("random sessions: threads open, start, cancel, close and reset at once", "[random]") {
    const program first = made(), second = loaded(first);
    seeds::each(3, [&](std::uint64_t seed) {
        const auto task = std::make_shared<detail::container_set>(default_allocator(), detail::draw_incarnation());
        const auto found = std::make_shared<findings>();
        {
            std::vector<std::thread> running;
            for (std::size_t t = 0; t < threads; ++t)
                running.emplace_back(
                    [&, t] { attacker(t % 2 ? second : first, task, found, seed * threads + t).run(); });
            for (auto& thread : running) thread.join();
        }
        // all sessions are closed: what waits is cancelled
        for (int n = found->ended; n != found->started; n = found->ended) found->ended.wait(n);
        const session last = detail::open_session(first.g, {}, task);
        for (int left = last.run(first.size).value<int>(); left > 0; --left)
            found->take(last.run(first.take).value<int>());
        CHECK(last.run(first.size).value<int>() == 0);
        CHECK(found->odd == "");
        CHECK(found->ended == found->started);
        int taken = 0;
        for (const auto& times : found->taken) {
            CHECK(times <= 1);
            taken += times;
        }
        CHECK(taken <= found->next);
        CHECK(found->grads <= found->applies);
        // an element is lost with a take that failed, or with its queue
        if (found->resets == 0) CHECK(found->puts <= taken + found->failed_takes);
        // both resources go on: how many of the attack's takes succeed is a matter of timing
        last.run(first.put, {feed(first.n, 7)});
        CHECK(last.run(first.take).value<int>() == 7);
        last.run(first.apply);
        CHECK(last.run(first.take_grad).value<float>() == 1.f);
    });
}

} // namespace test_session_random_sessions
