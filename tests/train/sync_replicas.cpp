// SPDX-License-Identifier: BSD-3-Clause
#include <rill/train/sync_replicas.hpp>

#include <rill/ops/array/placeholder.hpp>
#include <rill/ops/catalogue.hpp>
#include <rill/ops/math/square.hpp>
#include <rill/session/session.hpp>
#include <rill/train/adam.hpp>
#include <rill/train/clipping.hpp>
#include <rill/train/gradient_descent.hpp>

#include "catch.hpp"
#include "train/replicas.hpp"

using namespace rill;
using namespace replica_test;

namespace test_sync_replicas {

using namespace std::chrono_literals;

/// Trains with a thread for each replica, all in one session.
template <class Optimizer> weights with_threads(const Optimizer& by, sync_order order) {
    const graph g;
    const graph_scope here(g);
    const model m;
    const placeholder<float, dyn> x("x");
    const placeholder<int, dyn> ids("ids");
    const placeholder<int> which("which");
    const auto sync = sync_replicas(by, {.replicas_to_aggregate = replicas, .order = order, .replica = which});
    const operation train = sync.minimize(m.loss(x, ids), m.step);
    const session s;
    s.run(global_variables_initializer());
    in_threads(replicas, [&](int k) {
        for (int i = 0; i < steps; ++i)
            s.run(train, feed(x, inputs(k, i)), feed(ids, words(k, i)), feed(which, k), {.timeout = long_enough});
    });
    CHECK(s.run(m.step) == steps);
    CHECK(s.run(sync.num_dropped()) == 0);
    return values_of(s, m);
}

/// A weight that replicas pull to values of their own. Replica k feeds its number.
struct pulled {
    graph g;
    graph_scope here{g};
    placeholder<float> to{"to"};
    placeholder<int> which{"which"};
    variable<float> w{"w", 0.f};
    variable<int> step{"step", 0, {.trainable = false}};
    sync_replicas_optimizer<gradient_descent> sync;
    operation train;
    session s;

    explicit pulled(sync_replicas_options how)
        : sync(sync_replicas(gradient_descent(0.5f), with(how))), train(sync.minimize(square(w - to) * 0.5f, step)) {
        s.run(global_variables_initializer());
    }
    sync_replicas_options with(sync_replicas_options how) const {
        how.replica = which;
        return how;
    }
    void run(int k, float value) const { s.run(train, feed(to, value), feed(which, k), {.timeout = long_enough}); }
};

TEST_CASE("sync_replicas: threads, dense gradients and rows, the bits of one process") {
    CHECK(with_threads(adam(0.05f), sync_order::by_replica) == alone(adam(0.05f)));
    CHECK(with_threads(gradient_descent(0.1f), sync_order::by_replica) == alone(gradient_descent(0.1f)));
    const auto [table, w, b] = with_threads(gradient_descent(0.1f), sync_order::by_arrival); // other sums
    CHECK(b == Approx(std::get<2>(alone(gradient_descent(0.1f)))).epsilon(1e-3));
}

TEST_CASE("sync_replicas: nobody waits for a backup, and stale gradients are dropped and counted") {
    const pulled p({.replicas_to_aggregate = 2, .total_replicas = 3});
    in_threads(2, [&](int k) {
        for (int i = 0; i < 5; ++i) p.run(k, k == 0 ? 1.f : 3.f);
    });
    CHECK(p.s.run(p.step) == 5);
    const float w = p.s.run(p.w);
    CHECK(w == 2.f * (1.f - 1.f / 32));
    p.run(2, 100.f); // its first: five rounds late
    CHECK(p.s.run(p.w) == w);
    CHECK(p.s.run(p.sync.num_dropped()) == 1);
    in_threads(2, [&](int k) { p.run(k == 0 ? 0 : 2, 2.f); }); // it has caught up
    CHECK(p.s.run(p.step) == 6);
    CHECK(p.s.run(p.w) == (w + 2.f) / 2);
    CHECK(p.s.run(p.sync.num_dropped()) == 1);
}

TEST_CASE("sync_replicas: a replica that leaves ends the others' input") {
    const pulled p({.replicas_to_aggregate = 2, .total_replicas = 2});
    in_threads(2, [&](int k) {
        p.run(k, 1.f);
        if (k == 0)
            p.s.run(p.sync.leave(), feed(p.which, 0));
        else
            CHECK_THROWS_AS(p.run(1, 1.f), out_of_range);
    });
    CHECK(p.s.run(p.step) == 1);
}

TEST_CASE("sync_replicas: a run that is given up says whom it has waited for, and does not count") {
    const pulled p({.replicas_to_aggregate = 2, .total_replicas = 2});
    try {
        p.s.run(p.train, feed(p.to, 50.f), feed(p.which, 0), {.timeout = 20ms});
        FAIL_CHECK("it has not waited");
    } catch (const deadline_exceeded& e) {
        CHECK_THAT(e.what(), contains("round_arrive") && contains("round 0 has the gradients of 1 of 2 replicas; replica "
                                                                 "1 has not arrived"));
    }
    in_threads(2, [&](int k) { p.run(k, 4.f); });
    CHECK(p.s.run(p.w) == 2.f);
}

TEST_CASE("sync_replicas: variables have the names that they have without it") {
    const auto names = [](bool sync) {
        const graph g;
        const graph_scope here(g);
        const variable<float> w("w", 1.f);
        if (sync)
            (void)sync_replicas(adam()).minimize(square(w));
        else
            (void)adam().minimize(square(w));
        std::vector<std::string> all;
        for (const auto& e : g.collection(collections::variables)) all.push_back(name_of(e));
        return all;
    };
    CHECK(names(true) == names(false));
}

TEST_CASE("sync_replicas: one replica, a loss of unknown type, no counter") {
    const graph g;
    const graph_scope here(g);
    const variable<double> w("w", 3.0);
    const operation train = sync_replicas(gradient_descent(0.25)).minimize(any_tensor(square(w)));
    const session s;
    s.run(global_variables_initializer());
    s.run(train);
    s.run(train);
    CHECK(s.run(w) == 0.75);
}

TEST_CASE("sync_replicas: what can't be is refused, with the place") {
    const graph g;
    const graph_scope here(g);
    const variable<float> w("w", 1.f);
    CHECK_THROWS_WITH(sync_replicas(adam(), {.replicas_to_aggregate = 3, .total_replicas = 2}),
                      contains("sync_replicas: replicas_to_aggregate is 3") && contains("total_replicas is 2") &&
                          contains("sync_replicas.cpp"));
    CHECK_THROWS_AS(sync_replicas(adam(), {.replicas_to_aggregate = 0}), invalid_argument);
    CHECK_THROWS_AS(sync_replicas(adam(), {.replicas_to_aggregate = 1, .total_replicas = 1 << 21}), invalid_argument);
    const auto sync = sync_replicas(adam(), {.replicas_to_aggregate = 2, .replica = 2});
    CHECK_THROWS_WITH(sync.minimize(square(w)), contains("the replica is 2") && contains("sync_replicas.cpp"));
    CHECK_THROWS_AS(sync.num_dropped(), failed_precondition);
    CHECK_THROWS_WITH(sync.leave(), contains("minimize"));
    const device_scope on("/job:worker/task:5");
    CHECK_THROWS_WITH(sync_replicas(adam(), {.replicas_to_aggregate = 2}).minimize(square(w)),
                      contains("the replica is 5") && contains("/job:worker/task:5"));
}

TEST_CASE("sync_replicas: gradients that are clipped in between") {
    const graph g;
    const graph_scope here(g);
    const variable<float> w("w", 8.f);
    const variable<int> step("step", 0, {.trainable = false});
    const auto sync = sync_replicas(gradient_descent(1.f));
    const auto [clipped, norm] = clip_by_global_norm(sync.compute_gradients(square(w)), 2.f);
    const operation train = sync.apply_gradients(clipped, step);
    const session s;
    s.run(global_variables_initializer());
    s.run(train);
    CHECK(s.run(w) == Approx(6.f));
    CHECK(s.run(step) == 1);
}

TEST_CASE("sync_replicas: its ops by name, their fields read back") {
    sync_round_op round;
    round.traits = {2, 3, false};
    CHECK(make_op("SyncRound", 1, bytes_of_fields(*make_op(round)))->equals(*make_op(round)));
    CHECK_FALSE(make_op("SyncRound")->equals(*make_op(round)));
    replica_gradients_op store;
    store.traits = {{dtype::float32, dims{2, 3}}, dtype::int64, true};
    CHECK(make_op("ReplicaGradients", 1, bytes_of_fields(*make_op(store)))->equals(*make_op(store)));
    round_arrive_op arrive;
    arrive.count = 4;
    round_reset_op reset;
    reset.closes = true;
    CHECK(make_op("RoundReset", 1, bytes_of_fields(*make_op(reset)))->equals(*make_op(reset)));
    CHECK(make_op("RoundArrive", 1, bytes_of_fields(*make_op(arrive)))->equals(*make_op(arrive)));
    for (const char* name :
         {round_begin_op::name, round_end_op::name, round_leave_op::name, round_reset_op::name, round_dropped_op::name})
        CHECK(find_op(name));
    CHECK(find_op(replica_gradients_put_op::name)->takes(dtype::float64));
    CHECK_FALSE(find_op(replica_gradients_take_op::name)->takes(dtype::int32));
}

} // namespace test_sync_replicas
