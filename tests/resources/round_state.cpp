// SPDX-License-Identifier: BSD-3-Clause
#include <rill/resources/round_state.hpp>

#include "catch.hpp"
#include "ops/sync/pretend_wait.hpp"

using namespace rill;

namespace test_resources_round_state {

using detail::round_state;

/// One replica of a test, with its step.
struct replica {
    std::shared_ptr<round_state> round;
    index_t number;
    std::vector<std::function<void()>> undo = {};
    step_context step = {};
    sync_test::pretend_wait wait = {};
    round_state::contribution mine = {};
    any_array out[2] = {};

    round_state::member self() const { return {.number = number}; }
    bool arrive() {
        undo.clear();
        step.on_failure = &undo;
        wait = {};
        mine = round->begin(self());
        return round->arrive(mine, &step, wait, out);
    }
    /// Returns whether the run leads, once its wait is over.
    bool leads() const { return (wait.came() ? wait.outputs()[0] : out[0]).value<bool>(); }
    std::vector<std::int64_t> ids() const {
        const auto all = (wait.came() ? wait.outputs()[1] : out[1]).elements<std::int64_t>();
        return {all.begin(), all.end()};
    }
    void end() { round->end(mine.step, leads(), self()); }
    void fail() const {
        for (const auto& f : undo) f();
    }
};

std::shared_ptr<round_state> make(index_t aggregate, index_t total, bool by_replica = true) {
    return std::make_shared<round_state>("r", detail::round_traits{aggregate, total, by_replica});
}

TEST_CASE("round_state: one replica of each round leads, the others wait until it ends") {
    const auto round = make(2, 2);
    replica a{round, 1}, b{round, 0};
    for (std::int64_t step = 0; step < 3; ++step) {
        CHECK_FALSE(a.arrive());
        CHECK(a.mine.step == step);
        CHECK_FALSE(b.arrive());
        REQUIRE((a.wait.came() && !b.wait.came()));
        CHECK(a.leads());
        CHECK(a.ids() == std::vector<std::int64_t>{b.mine.id, a.mine.id}); // in order of replica
        a.end();
        REQUIRE(b.wait.came());
        CHECK_FALSE(b.leads());
        b.end();
    }
    CHECK(round->dropped() == 0);
}

TEST_CASE("round_state: nobody waits for a backup, whose gradients are dropped and counted") {
    const auto round = make(1, 2, false);
    replica fast{round, 0}, slow{round, 1};
    slow.mine = round->begin(slow.self());
    for (int k = 0; k < 3; ++k) {
        CHECK(fast.arrive());
        CHECK(fast.leads());
        fast.end();
    }
    CHECK(round->arrive(slow.mine, nullptr, slow.wait, slow.out)); // stale: it does not wait
    CHECK_FALSE(slow.leads());
    slow.end();
    CHECK(round->dropped() == 1);
    CHECK(slow.arrive());
    CHECK(slow.mine.step == 3);
    CHECK(slow.leads());
    CHECK_FALSE(fast.arrive()); // of the same round, after those that are aggregated
    slow.end();
    CHECK(fast.wait.came());
    CHECK_FALSE(fast.leads());
    fast.end();
    CHECK(round->dropped() == 2);
}

TEST_CASE(
    "round_state: if the leader's step fails, the next one leads, and one that fails while it waits does not count") {
    const auto round = make(2, 3);
    replica a{round, 0}, b{round, 1}, c{round, 2};
    CHECK_FALSE(a.arrive());
    CHECK_FALSE(b.arrive());
    CHECK(a.leads());
    a.fail();
    REQUIRE(b.wait.came());
    CHECK(b.leads());
    b.end();

    CHECK_FALSE(b.arrive());
    CHECK(b.wait.give_up());
    c.mine = round->begin(c.self());
    CHECK(c.mine.step == 0); // it has run in no round: its variables may be as old as that
    CHECK(round->arrive(c.mine, &c.step, c.wait, c.out));
    c.end();
    CHECK_FALSE(c.arrive());
    CHECK_FALSE(c.wait.came());
    CHECK_FALSE(b.arrive());
    CHECK(c.leads());
    CHECK(c.ids() == std::vector<std::int64_t>{b.mine.id, c.mine.id});
}

TEST_CASE("round_state: a later run of a replica takes the place of one that waits") {
    const auto round = make(2, 2);
    replica first{round, 0}, again{round, 0}, other{round, 1};
    CHECK_FALSE(first.arrive());
    CHECK_FALSE(again.arrive());
    REQUIRE(first.wait.came());
    CHECK_THROWS_WITH(std::rethrow_exception(first.wait.problem()), contains("'r'") && contains("replica 0"));
    CHECK_FALSE(other.arrive());
    CHECK(again.leads());
}

TEST_CASE("round_state: a replica that leaves ends those that would wait for it, until it comes back") {
    const auto round = make(2, 3);
    replica a{round, 0}, b{round, 1}, c{round, 2};
    CHECK(round->leave(c.self()) == 2);
    CHECK(round->leave(c.self()) == 2); // once
    CHECK_FALSE(a.arrive());
    CHECK_FALSE(b.arrive());
    a.end();
    b.end();
    CHECK_FALSE(a.arrive());
    CHECK(round->leave(b.self()) == 1);
    REQUIRE(a.wait.came());
    CHECK_THROWS_AS(std::rethrow_exception(a.wait.problem()), out_of_range);
    CHECK_THROWS_WITH(a.arrive(), contains("2 of 3 replicas") && contains("of 2"));
    CHECK_FALSE(b.arrive());
    CHECK_FALSE(a.arrive());
    CHECK(b.leads());
}

TEST_CASE("round_state: a restore does not await a replica that has left, and another training awaits all") {
    const auto round = make(2, 2);
    replica a{round, 0}, b{round, 1};
    const auto reset = [&](bool closes) {
        sync_test::pretend_wait wait;
        any_array number;
        REQUIRE(round->reset(closes, wait, &number));
    };
    const auto restore = [&] {
        reset(true);
        reset(false);
    };
    CHECK_FALSE(a.arrive());
    CHECK_FALSE(b.arrive());
    a.end();
    b.end();
    CHECK(round->leave(b.self()) == 1);
    restore();
    CHECK_THROWS_AS(a.arrive(), out_of_range); // it would wait for b for ever
    restore();
    CHECK_THROWS_AS(a.arrive(), out_of_range);
    CHECK_FALSE(b.arrive()); // b has come back
    CHECK_FALSE(a.arrive());
    REQUIRE(b.leads()); // it waited first
    b.end();
    a.end();

    round->leave(a.self());
    round->leave(b.self());
    reset(false); // as the first session of a chief does
    restore();
    CHECK_FALSE(a.arrive());
    CHECK_FALSE(a.wait.came());
    CHECK_THAT(round->awaited(), contains("replica 1 has not arrived"));
    CHECK_FALSE(b.arrive());
    REQUIRE(a.wait.came());
    CHECK(a.leads());
}

TEST_CASE("round_state: replicas without a number are told apart by session, and a reset drops what has come") {
    const auto round = make(2, 2);
    const auto one = std::make_shared<cancellation>(), two = std::make_shared<cancellation>();
    const auto a = round->begin({.session = one.get()}), b = round->begin({.order = 1, .session = two.get()});
    CHECK(a.id < b.id);
    CHECK(round->begin({.session = one.get()}).id > a.id); // another run
    sync_test::pretend_wait wait;
    any_array out[2];
    CHECK_FALSE(round->arrive(a, nullptr, wait, out));
    sync_test::pretend_wait waits_for_none;
    any_array number;
    CHECK(round->reset(false, waits_for_none, &number));
    CHECK(number.value<std::int64_t>() == 1);
    REQUIRE(wait.came());
    CHECK_FALSE(wait.outputs()[0].value<bool>());
    CHECK(round->begin({.session = two.get()}).step == 1);
}

TEST_CASE("round_state: a round that closes waits for the step that leads, and none leads until the next reset") {
    const auto round = make(1, 2);
    replica a{round, 0}, b{round, 1};
    CHECK(a.arrive());
    CHECK_FALSE(b.arrive());
    sync_test::pretend_wait closed, opened;
    any_array number;
    CHECK_FALSE(round->reset(true, closed, &number));
    CHECK_FALSE(closed.came());
    a.end(); // the step that led is over: the round closes before another one leads
    REQUIRE(closed.came());
    CHECK(closed.outputs()[0].value<std::int64_t>() == 2);
    REQUIRE(b.wait.came());
    CHECK_FALSE(b.leads());
    b.end();
    CHECK_FALSE(b.arrive());
    CHECK_FALSE(b.wait.came());
    CHECK(round->reset(false, opened, &number));
    CHECK(number.value<std::int64_t>() == 3);
    REQUIRE(b.wait.came());
    CHECK_FALSE(b.leads()); // its gradients are of variables that were being restored
    b.end();
    CHECK(b.arrive());
    CHECK(b.leads());
    b.end();

    CHECK(a.arrive());
    CHECK_FALSE(a.leads()); // it has run in no round since
    a.end();
    CHECK(a.arrive()); // a leader that fails lets the round close, too
    CHECK(a.leads());
    sync_test::pretend_wait again;
    CHECK_FALSE(round->reset(true, again, &number));
    a.fail();
    CHECK(again.came());
}

TEST_CASE("round_state: it tells whom the round waits for") {
    const auto round = make(3, 4);
    replica a{round, 0}, b{round, 2};
    CHECK(round->awaited() == "round 0 has the gradients of 0 of 3 replicas; replicas 0, 1, 2 and 3 have not arrived");
    CHECK_FALSE(a.arrive());
    CHECK_FALSE(b.arrive());
    CHECK(round->awaited() == "round 0 has the gradients of 2 of 3 replicas; replicas 1 and 3 have not arrived");
    round->leave({.number = 3});
    CHECK(round->awaited() == "round 0 has the gradients of 2 of 3 replicas; replica 1 has not arrived");
    replica c{round, 1};
    CHECK_FALSE(c.arrive()); // one of those that wait leads
    CHECK_THAT(round->awaited(), contains("a replica updates the variables"));
    REQUIRE(a.leads());
    a.end();
    const auto unknown = make(2, 2); // replicas without a number are only counted
    const cancellation session;
    sync_test::pretend_wait wait;
    any_array out[2];
    CHECK_FALSE(unknown->arrive(unknown->begin({.session = &session}), nullptr, wait, out));
    CHECK(unknown->awaited() == "round 0 has the gradients of 1 of 2 replicas");
}

TEST_CASE("round_state: bad numbers are refused") {
    CHECK_THROWS_WITH((detail::round_traits{3, 2}.check()), contains("replicas_to_aggregate is 3") && contains("is 2"));
    CHECK_THROWS_AS((detail::round_traits{0, 2}.check()), invalid_argument);
    const auto round = make(1, 2);
    CHECK_THROWS_WITH(round->begin({.number = 2}), contains("sync_round 'r'") && contains("replica is 2"));
    CHECK(round->described() == "sync_round of 1 of 2 replicas");
}

} // namespace test_resources_round_state
