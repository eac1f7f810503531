// SPDX-License-Identifier: BSD-3-Clause
// Runs over a cluster of this process, where an allocation of the client fails.
#if RILL_TEST_CLUSTERS
#include "faults/allocations.hpp"

#include <chrono>
#include <memory>

#include <rill/distributed.hpp>
#include <rill/distributed/answers.hpp>
#include <rill/distributed/local_cluster.hpp>
#include <rill/ops/catalogue.hpp>
#include <rill/session/session.hpp>

#include "catch.hpp"
#include "seeds.hpp"

using namespace rill;

namespace test_cluster_allocations {

constexpr run_options at_most{.timeout = std::chrono::seconds(60)};

/// A variable of one task, and a loop over two tasks.
struct model {
    graph g;
    graph_scope here{g};
    placeholder<float> x{"x"};
    variable<float> total = [] {
        const device_scope on("/job:ps");
        return variable<float>("total", 0.f);
    }();
    tensor<float> last = while_loop([](auto v) { return v < 100.f; },
                                    [](auto v) {
                                        const auto twice = [&] {
                                            const device_scope on("/job:worker/task:0");
                                            return tensor<float>(v * 2.f);
                                        }();
                                        const device_scope on("/job:ps");
                                        return tensor<float>(twice + 1.f);
                                    },
                                    tensor<float>(x * 1.f));
    tensor<float> sum = total.assign_add(last);

    /// Returns the sum of one step, 127, after the variable was set to 0.
    float run(const session& s) const {
        s.run(total.initializer(), at_most);
        return s.run(sum, feed(x, 3.f), at_most);
    }
};

} // namespace test_cluster_allocations

TEST_CASE("allocations: G24: each of the client fails in turn in a run over a cluster, then the session goes on") {
    using test_cluster_allocations::model;
    local_cluster all({{"ps", 1}, {"worker", 1}});
    const auto target = all.at("worker", 0).target();
    const model m;
    std::unique_ptr<session> s;
    const auto attempt = [&] {
        s = std::make_unique<session>(session_options{.target = target});
        if (m.run(*s) != 127) throw internal("another result");
    };
    attempt(); // what is made once in a program is made here
    s.reset();
    const auto check = [&](bool succeeded) {
        REQUIRE((s || !succeeded));
        if (!s) s = std::make_unique<session>(session_options{.target = target});
        CHECK(m.run(*s) == 127);
        s.reset();
    };
    CHECK(faults::fail_each(attempt, check, faults::of_threads::own) > 100);
}

TEST_CASE("allocations: G24: each of the client fails in turn where a session of a cluster ends, and others go on") {
    using namespace test_cluster_allocations;
    local_cluster all({{"ps", 1}, {"worker", 1}});
    const model m;
    std::unique_ptr<session> s;
    const auto open = [&](bool) {
        s = std::make_unique<session>(session_options{.target = all.at("worker", 0).target()});
        CHECK(m.run(*s) == 127);
    };
    open(true);
    CHECK(faults::fail_each([&] { s.reset(); }, open, faults::of_threads::own) > 2);
}

TEST_CASE("allocations: G24: one of any thread fails in a run over a cluster, which ends, and later runs go on") {
    using namespace test_cluster_allocations;
    local_cluster all({{"ps", 1}, {"worker", 1}});
    const auto target = all.at("worker", 0).target();
    const model m;
    const auto open = [&] { return std::make_unique<session>(session_options{.target = target}); };
    std::unique_ptr<session> s;
    const auto attempt = [&] {
        if (!s) s = open();
        if (m.run(*s) != 127) throw internal("another result");
    };
    // a fault may cost a message, which is sent again after up to a second: not each allocation is tried, unless asked for
    const auto tries = seeds::from_environment("RILL_ALLOCATIONS", 24);
    for (const bool opens : {true, false}) {
        attempt(); // what is made once in a program is made here
        if (opens) s.reset();
        faults::fail_allocation(std::size_t(1) << 40);
        attempt();
        const auto count = faults::counted();
        faults::end_faults();
        CHECK(count > 200);
        seeds::draws draws(seeds::from_environment("RILL_FIRST_SEED", 1));
        std::size_t failed = 0;
        for (std::uint64_t i = 0; i < tries; ++i) {
            const auto k = 1 + (i * count + draws(count)) / tries;
            INFO("allocation " << k << " of " << count);
            if (opens) s.reset();
            faults::fail_allocation(k);
            try {
                attempt();
            } catch (const std::bad_alloc&) {
                ++failed;
            } catch (const error& e) {
                ++failed;
                INFO(e.what());
                CHECK(e.code() != error_code::deadline_exceeded); // it would have waited for ever
                CHECK(e.code() != error_code::internal);
            }
            faults::end_faults();
            try {
                attempt();
            } catch (const error&) { // the session may have been lost
                s.reset();
                attempt();
            }
        }
        CHECK(failed > 0);
    }
}

TEST_CASE("allocations: G24: each fails while answers are acknowledged, and no request runs again") {
    using state = detail::answer_table::state;
    detail::answer_table t;
    for (std::uint64_t n = 1; n <= 5; ++n) {
        t.begin(n);
        t.record(n, {});
    }
    for (const std::uint64_t n : {2, 4, 3}) { // the last one joins two ranges
        const auto check = [&](bool succeeded) { CHECK(t.begin(n) == (succeeded ? state::over : state::done)); };
        CHECK(faults::fail_each([&] { t.acknowledge(n); }, check) == 1);
    }
    const auto check = [&](bool) {
        for (std::uint64_t n = 1; n <= 5; ++n) CHECK(t.begin(n) == (n < 5 ? state::over : state::done));
    };
    CHECK(faults::fail_each([&] { t.acknowledge_below(3); }, check) == 0);
}
#endif
