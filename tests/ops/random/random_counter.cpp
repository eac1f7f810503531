// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/random/random_counter.hpp>

#include <rill/resources/resource_store.hpp>
#include <rill/rill.hpp>

#include "catch.hpp"

using namespace rill;

TEST_CASE("random_counter: counts the streams that were drawn, and goes on where it is set") {
    detail::random_counter counter("noise");
    CHECK(counter.name() == "noise");
    CHECK(counter.described() == "random counter");
    CHECK(counter.next(7).run == 0);
    const auto stream = counter.next(8);
    CHECK(stream.seed == 8);
    CHECK(stream.run == 1);
    CHECK(counter.drawn() == 2);
    counter.set_drawn(40);
    CHECK(counter.next(7).run == 40);
}

TEST_CASE("random_counter: of each node and session one, under the node's name") {
    const graph g;
    const graph_scope here(g);
    const auto noise = random_uniform<float, 4>({.seed = 3}), other = random_uniform<float, 4>({.seed = 3});
    detail::resource_store mine(default_allocator()), theirs(default_allocator());
    const auto counter = [](detail::resource_store& store, const auto& x) {
        kernel_request request{{}, {}};
        store.answer(request, *x.node()->op, *x.node());
        return detail::random_counter_of(request);
    };
    const auto first = counter(mine, noise);
    CHECK(first->name() == noise.node()->name);
    CHECK(counter(mine, noise) == first);
    CHECK(counter(mine, other) != first);
    CHECK(counter(theirs, noise) != first);
    CHECK(resource_as<detail::random_counter>(first->number()) == first);

    const session s(g), again(g);
    const auto a = s.run(noise), b = s.run(noise);
    CHECK((a != b));
    CHECK((again.run(noise) == a));
}

TEST_CASE("random_counter: a kernel that no session is asked for has one of its own") {
    const kernel_request request{{}, {}};
    CHECK(detail::random_counter_of(request) != detail::random_counter_of(request));
}

TEST_CASE("random_counter: replicas draw numbers of their own, and replica 0 those of a session without") {
    const graph g;
    const graph_scope here(g);
    const auto by_name = random_uniform<float, 8>(), seeded = random_uniform<float, 8>({.seed = 3});
    const session alone(g), none(g, {.replica = 0}), one(g, {.replica = 1}), same(g, {.replica = 1}),
        two(g, {.replica = 2});
    for (const auto& noise : {by_name, seeded}) {
        const auto drawn = alone.run(noise), by_one = one.run(noise);
        CHECK((none.run(noise) == drawn));
        CHECK((by_one != drawn));
        CHECK((same.run(noise) == by_one));
        CHECK((two.run(noise) != drawn));
        CHECK((two.run(noise) != by_one));
    }
}
