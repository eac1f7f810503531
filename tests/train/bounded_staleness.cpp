// SPDX-License-Identifier: BSD-3-Clause
#include <rill/train/bounded_staleness.hpp>

#include <thread>

#include <rill/ops/array/placeholder.hpp>
#include <rill/ops/catalogue.hpp>
#include <rill/ops/math/square.hpp>
#include <rill/session/session.hpp>
#include <rill/train/gradient_descent.hpp>

#include "catch.hpp"

using namespace rill;

namespace test_bounded_staleness {

using namespace std::chrono_literals;

struct training {
    graph g;
    graph_scope here{g};
    placeholder<int> which{"which"};
    variable<float> w{"w", 8.f};
    variable<int> step{"step", 0, {.trainable = false}};
    bounded_staleness_optimizer<gradient_descent> by;
    operation train;
    session s;

    explicit training(int bound)
        : by(bounded_staleness(gradient_descent(0.25f), {.bound = bound, .workers = 2, .worker = which})),
          train(by.minimize(square(w), step)) {
        s.run(global_variables_initializer());
    }
};

TEST_CASE("bounded_staleness: a worker goes no further ahead than the bound") {
    const training t(2);
    for (int i = 0; i < 2; ++i) t.s.run(t.train, feed(t.which, 0));
    CHECK(t.s.run(t.w) == 2.f); // each step halves it
    CHECK_THROWS_AS(t.s.run(t.train, feed(t.which, 0), {.timeout = 1ms}), deadline_exceeded);
    CHECK(t.s.run(t.w) == 1.f); // the update was made; the next step would have been too far ahead
    t.s.run(t.train, feed(t.which, 1));
    t.s.run(t.train, feed(t.which, 1));
    t.s.run(t.train, feed(t.which, 0));
    CHECK(t.s.run(t.step) == 6);
    t.s.run(t.by.leave(), feed(t.which, 1));
    for (int i = 0; i < 5; ++i) t.s.run(t.train, feed(t.which, 0));
    CHECK(t.s.run(t.step) == 11);
}

TEST_CASE("bounded_staleness: two threads come to their end together") {
    const training t(0);
    constexpr int steps = 50;
    std::thread other([&] {
        for (int i = 0; i < steps; ++i) t.s.run(t.train, feed(t.which, 1), {.timeout = 20s});
    });
    for (int i = 0; i < steps; ++i) {
        t.s.run(t.train, feed(t.which, 0), {.timeout = 20s});
        const int both = t.s.run(t.step);
        CHECK((both >= 2 * (i + 1) && both <= 2 * (i + 1) + 1));
    }
    other.join();
    CHECK(t.s.run(t.step) == 2 * steps);
}

TEST_CASE("bounded_staleness: what can't be is refused, with the place") {
    const graph g;
    const graph_scope here(g);
    const variable<float> w("w", 1.f);
    CHECK_THROWS_WITH(bounded_staleness(gradient_descent(), {.bound = -1, .workers = 2}),
                      contains("bounded_staleness: the bound is -1") && contains("bounded_staleness.cpp"));
    CHECK_THROWS_AS(bounded_staleness(gradient_descent(), {.workers = 0}), invalid_argument);
    CHECK_THROWS_AS(bounded_staleness(gradient_descent(), {.workers = 1 << 21}), invalid_argument);
    const auto by = bounded_staleness(gradient_descent(), {.workers = 2, .worker = 3});
    CHECK_THROWS_WITH(by.minimize(square(w)), contains("the replica is 3") && contains("there are 2"));
    CHECK_THROWS_WITH(by.leave(), contains("minimize"));
}

TEST_CASE("bounded_staleness: its ops by name, their fields read back") {
    staleness_clock_op clock;
    clock.traits = {3, 2};
    CHECK(make_op("StalenessClock", 1, bytes_of_fields(*make_op(clock)))->equals(*make_op(clock)));
    CHECK_FALSE(make_op("StalenessClock")->equals(*make_op(clock)));
    for (const char* name : {clock_advance_op::name, clock_leave_op::name}) CHECK(find_op(name));
}

} // namespace test_bounded_staleness
