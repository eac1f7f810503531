// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/sync/mutex.hpp>

#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include <rill/ops/catalogue.hpp>
#include <rill/session/session.hpp>

#include "catch.hpp"

using namespace rill;

namespace test_ops_sync_mutex {

/// Runs f(thread) on so many threads.
template <class F> void on_threads(int count, const F& f) {
    std::vector<std::thread> all;
    for (int t = 0; t < count; ++t) all.emplace_back([&f, t] { f(t); });
    for (auto& t : all) t.join();
}

TEST_CASE("mutex: a critical section gives what its body gives, and frees the mutex") {
    const graph_scope here{graph()};
    const mutex lock("lock");
    const variable<float> v("v", 1.f), w("w", 5.f);
    const tensor<float> one = lock.critical([&] { return v.assign_add(1.f); });
    const auto [sum, is_w] = lock.critical([&] { return std::tuple(v + w, w); });
    const operation nothing = lock.critical([&] { w.assign(7.f); });
    const operation op = lock.critical([&] { return group(w.assign_add(1.f)); });
    const tensor<float> number = lock.critical([] { return 3.f; });
    const session s;
    s.run(global_variables_initializer());
    CHECK(s.run(one) == 2.f);
    CHECK(s.run(one) == 3.f);
    CHECK(s.run(std::tuple(sum, is_w)) == std::tuple(8.f, 5.f));
    s.run(nothing);
    CHECK(s.run(w) == 7.f);
    s.run(op);
    CHECK(s.run(w) == 8.f);
    CHECK(s.run(number) == 3.f);
    CHECK(lock.name() == "lock");
}

TEST_CASE("mutex: all that the body makes runs in the section, before the release") {
    const graph_scope here{graph()};
    const mutex lock("lock");
    std::vector<int> seen;
    const auto note = [&](int i) { seen.push_back(i); };
    const tensor<float> given = lock.critical([&] {
        host_call(note, constant(1));
        host_call(note, constant(2));
        return constant(4.f);
    });
    const session s;
    CHECK(s.run(given) == 4.f);
    REQUIRE(seen.size() == 2);
    CHECK(seen[0] + seen[1] == 3);
    CHECK(s.run(given) == 4.f); // it is free again
}

TEST_CASE("mutex: sections of one step run one after the other, in order of creation") {
    const graph_scope here{graph()};
    const mutex lock("lock");
    const variable<float> v("v", 1.f);
    std::vector<tensor<float>> all;
    for (int k = 0; k < 5; ++k)
        all.push_back(lock.critical([&] {
            const tensor read(v * 2.f);
            return v.assign(read + 1.f);
        }));
    const session s;
    s.run(v.initializer());
    CHECK(s.run(std::tuple(all[0], all[1], all[2], all[3], all[4])) == std::tuple(3.f, 7.f, 15.f, 31.f, 63.f));
    s.run(v.initializer());
    CHECK(s.run(std::tuple(all[3], all[1])) == std::tuple(7.f, 3.f)); // whichever are run
}

TEST_CASE("mutex: two handles of one shared name are one mutex, within a step too") {
    const graph_scope here{graph()};
    const mutex a("a", {.shared_name = "mutex_test_two_handles"}), b("b", {.shared_name = "mutex_test_two_handles"});
    const variable<float> v("v", 0.f);
    const auto x = a.critical([&] { return v.assign(v + 1.f); });
    const auto y = b.critical([&] { return v.assign(v + 1.f); });
    const session s({.progress_timeout = std::chrono::seconds(60)});
    s.run(v.initializer());
    CHECK(s.run(std::tuple(x, y)) == std::tuple(1.f, 2.f));
    const operation hold = a.acquire();
    s.run(hold);
    CHECK_THROWS_AS(s.run(b.acquire(), {.timeout = std::chrono::milliseconds(20)}), deadline_exceeded);
    s.run(b.release());
}

TEST_CASE("mutex: no update is lost between threads and sessions") {
    const graph_scope here{graph()};
    const mutex lock("lock", {.shared_name = "mutex_test_updates"});
    const variable<float> v("v", 0.f, {.shared_name = "mutex_test_updates_v"});
    const tensor<float> step = lock.critical([&] {
        const tensor read(v * 1.f, "read");
        const control_dependencies after(read);
        return v.assign(read + 1.f);
    });
    const session one, other;
    one.run(v.initializer());
    constexpr int threads = 8, rounds = 50;
    on_threads(threads, [&](int t) {
        const session& s = t % 2 ? one : other;
        for (int k = 0; k < rounds; ++k) s.run(step);
    });
    CHECK(one.run(v) == threads * rounds);
    CHECK(other.run(v) == threads * rounds);
    session::reset();
}

TEST_CASE("mutex: a section that only reads sees what is current then") {
    const graph_scope here{graph()};
    const mutex lock("lock");
    const variable<float> v("v", 1.f);
    const session s;
    s.run(v.initializer());
    const tensor<float> change = v.assign(2.f);
    const tensor<float> read = lock.critical([&] { return v; });
    const tensor<float> sum = lock.critical([&] { return v + 1.f; });
    const operation hold = lock.acquire(), free = lock.release();
    s.run(hold);
    // in the same step, once the sections wait
    const auto meanwhile = host_call<float>([&](float x) { return s.run(change), s.run(free), x; }, constant(5.f));
    CHECK(s.run(std::tuple(read, sum, meanwhile)) == std::tuple(2.f, 3.f, 5.f));
}

TEST_CASE("mutex: sections in loops and branches") {
    const graph_scope here{graph()};
    const mutex lock("lock", {.shared_name = "mutex_test_loops"});
    const variable<float> v("v", 0.f, {.shared_name = "mutex_test_loops_v"}), seen("seen", 0.f);
    const auto bump = [&] {
        return lock.critical([&] {
            const tensor read(v * 1.f);
            return v.assign(read + 1.f);
        });
    };
    const auto loop = while_loop([](auto i, auto) { return i < 20; },
                                 [&](auto i, auto) { return std::tuple(i + 1, bump()); }, 0, 0.f);
    placeholder<bool> p("p");
    const tensor<float> maybe = cond(p, [&] { return bump(); }, [] { return -1.f; });
    const session one, other;
    one.run(v.initializer());
    std::atomic<int> wrong{0};
    on_threads(4, [&](int t) {
        const session& s = t % 2 ? one : other;
        s.run(std::get<1>(loop));
        if (s.run(maybe, feed(p, t < 2)) < -1.f) ++wrong;
    });
    CHECK(wrong == 0);
    CHECK(one.run(v) == 4 * 20 + 2);
    // a loop and a section of one step
    const tensor<float> after = lock.critical([&] { return v.assign_add(100.f); });
    CHECK(one.run(std::tuple(std::get<1>(loop), after)) == std::tuple(102.f, 202.f));
    session::reset();
}

TEST_CASE("mutex: a body that only reads in its section reads then, not when its loop began") {
    const graph_scope here{graph()};
    const mutex lock("lock");
    const variable<float> v("v", 0.f);
    const session s;
    s.run(v.initializer());
    const tensor<float> change = v.assign_add(1.f);
    const auto loop = while_loop([](auto i, auto) { return i < 3; },
                                 [&](auto i, auto sum) {
                                     const auto changed = host_call<int>([&](int k) { return s.run(change), k; }, i);
                                     const control_dependencies after(changed);
                                     const tensor<float> now = lock.critical([&] { return v; });
                                     return std::tuple(i + 1, sum + now);
                                 },
                                 0, 0.f);
    CHECK(s.run(std::get<1>(loop)) == 6.f);
}

TEST_CASE("mutex: a step that fails lets go of it") {
    const graph_scope here{graph()};
    const mutex lock("lock");
    const auto fails = lock.critical([&] {
        return host_call<float>([](float) -> float { throw std::runtime_error("out of luck"); }, constant(1.f));
    });
    const tensor<float> works = lock.critical([] { return 1.f; });
    const session s;
    for (int k = 0; k < 3; ++k) {
        CHECK_THROWS_WITH(s.run(fails), contains("out of luck"));
        CHECK(s.run(works) == 1.f);
    }
    // in a loop too, in an iteration that is not the first
    const auto loop = while_loop(
        [](auto i) { return i < 10; },
        [&](auto i) {
            return lock.critical([&] {
                return host_call<int>([](int k) { return k == 4 ? throw std::runtime_error("five") : k + 1; }, i);
            });
        },
        0);
    CHECK_THROWS_WITH(s.run(loop), contains("five"));
    CHECK(s.run(works) == 1.f);
}

TEST_CASE("mutex: what another step of the session holds stays held when a step fails") {
    const graph_scope here{graph()};
    const mutex lock("lock");
    const session s;
    s.run(lock.acquire());
    const operation again = lock.acquire();
    CHECK_THROWS_AS(s.run(again, {.timeout = std::chrono::milliseconds(20)}), deadline_exceeded);
    CHECK_THROWS_AS(s.run(again, {.timeout = std::chrono::milliseconds(20)}), deadline_exceeded);
    s.run(lock.release());
    s.run(again);
    s.run(lock.release());
}

TEST_CASE("mutex: a session that ends lets go of it") {
    const graph_scope here{graph()};
    const mutex lock("lock", {.shared_name = "mutex_test_session_ends"});
    const operation take = lock.acquire(), free = lock.release();
    const session stays;
    {
        session goes;
        goes.run(take);
        CHECK_THROWS_WITH(stays.run(free), contains("mutex_test_session_ends") && contains("another session"));
        goes.close();
    }
    stays.run(take);
    stays.run(free);
    {
        const session goes;
        goes.run(take);
    } // without being closed
    stays.run(take);
    session waits;
    std::thread in_vain([&] { CHECK_THROWS_AS(waits.run(take), cancelled); });
    waits.close();
    in_vain.join();
    stays.run(free);
    stays.run(take);
    stays.run(free);
    session::reset();
}

TEST_CASE("mutex: releasing one that is not held is refused, naming it") {
    const graph_scope here{graph()};
    const mutex lock("lock");
    const session s;
    CHECK_THROWS_AS(s.run(lock.release()), failed_precondition);
    CHECK_THROWS_WITH(s.run(lock.release()), contains("mutex 'lock' is not held") && contains("mutex_release"));
    s.run(lock.acquire());
    s.run(lock.release());
    CHECK_THROWS_AS(s.run(lock.release()), failed_precondition);
}

TEST_CASE("mutex: cancelling one that waits leaves the others in line") {
    const graph_scope here{graph()};
    const mutex lock("lock");
    const tensor<float> section = lock.critical([] { return 1.f; });
    const operation take = lock.acquire();
    const session s;
    s.run(take);
    const cancellation_token token;
    std::thread ends([&] { CHECK_THROWS_AS(s.run(section, {.cancel = token}), cancelled); });
    std::vector<std::thread> stay;
    std::atomic<int> through{0};
    for (int k = 0; k < 4; ++k) stay.emplace_back([&] { through += static_cast<int>(s.run(section)); });
    token.cancel();
    ends.join();
    s.run(lock.release());
    for (auto& t : stay) t.join();
    CHECK(through == 4);
    CHECK(s.run(section) == 1.f);
}

TEST_CASE("mutex: its container is reset while a run waits") {
    const graph_scope here{graph()};
    const mutex lock("lock", {.shared_name = "mutex_test_reset"});
    const operation take = lock.acquire();
    const session s;
    s.run(take);
    std::thread waits([&] { CHECK_THROWS_AS(s.run(lock.acquire()), cancelled); });
    session::reset();
    waits.join();
}

} // namespace test_ops_sync_mutex
