// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/barrier/keyed_barrier.hpp>

#include <chrono>
#include <limits>
#include <thread>

#include <rill/ops/catalogue.hpp>
#include <rill/session/session.hpp>

#include "catch.hpp"

using namespace rill;

namespace test_ops_queue_keyed_barrier {

constexpr std::int64_t first = std::numeric_limits<std::int64_t>::min();

TEST_CASE("keyed_barrier: components come one by one, elements leave in the order of their keys") {
    const graph_scope here{graph()};
    const keyed_barrier<tensor<float, 2>, tensor<int>> b({.name = "pairs"});
    CHECK(b.name() == "pairs");
    const auto keys = constant({"a", "b", "c"});
    const auto back = constant({"c", "a"});
    const auto x = b.insert_many<0>(keys, constant({{1.f, 2.f}, {3.f, 4.f}, {5.f, 6.f}}));
    const auto y = b.insert_many<1>(back, constant({30, 10}));
    const auto [when, which, floats, ints] = b.take_many<2>();
    static_assert(std::is_same_v<decltype(floats), const tensor<float, 2, 2>>);
    const session s;
    s.run(y);
    s.run(x); // a, which came second, and c, the first
    CHECK(s.run(std::tuple(b.ready_size(), b.incomplete_size())) == std::tuple(2, 1));
    const auto [i, k, f, n] = s.run(std::tuple(when, which, floats, ints));
    CHECK((i == xt::xtensor<std::int64_t, 1>{first, first + 1}));
    CHECK((k == xt::xtensor<std::string, 1>{"c", "a"}));
    CHECK((f == xt::xtensor<float, 2>{{5, 6}, {1, 2}}));
    CHECK((n == xt::xtensor<int, 1>{30, 10}));
    CHECK(s.run(std::tuple(b.ready_size(), b.incomplete_size())) == std::tuple(0, 1));
    // a key that was taken is a new one
    s.run(b.insert_many<1>(constant({"a", "b"}), constant({11, 20})));
    CHECK(s.run(std::get<3>(b.take_many(1)))(0) == 20);
    CHECK(s.run(b.incomplete_size()) == 1);
}

TEST_CASE("keyed_barrier: who takes waits for what two sessions put together") {
    session::reset();
    const graph_scope here{graph()};
    const keyed_barrier<tensor<float>, tensor<std::string>> b({.shared_name = "keyed_barrier_test"});
    placeholder<std::string, dyn> key("key");
    placeholder<float, dyn> number("number");
    const auto left = b.insert_many<0>(key, number);
    const auto right = b.insert_many<1>(key, string_join("of ", key));
    const auto got = b.take_many<20>();
    const session one, other, takes;
    std::thread numbers([&] {
        for (int k = 0; k < 20; ++k)
            one.run(left, feed(key, std::vector<std::string>{std::to_string(k)}),
                    feed(number, std::vector<float>{static_cast<float>(k)}));
    });
    std::thread texts([&] {
        for (int k = 19; k >= 0; --k) other.run(right, feed(key, std::vector<std::string>{std::to_string(k)}));
    });
    const auto [when, keys, floats, strings] = takes.run(got);
    numbers.join();
    texts.join();
    for (std::size_t k = 0; k < 20; ++k) {
        CHECK(when(k) == first + static_cast<std::int64_t>(k));
        CHECK(keys(k) == std::to_string(static_cast<int>(floats(k))));
    }
    session::reset();
}

TEST_CASE("keyed_barrier: a loop fills one while the step waits to take") {
    const graph_scope here{graph()};
    const keyed_barrier<tensor<int>> b;
    const auto fill_it = while_loop([](auto i) { return i < 5; },
                                    [&](auto i) {
                                        const tensor one = reshape<1>(i);
                                        const control_dependencies after(b.insert_many<0>(as_string(one), one));
                                        return tensor(i + 1);
                                    },
                                    0);
    const session s;
    const auto [all, n] = s.run(std::tuple(std::get<2>(b.take_many<5>()), fill_it));
    CHECK((all == xt::xtensor<int, 1>{0, 1, 2, 3, 4}));
}

TEST_CASE("keyed_barrier: one that is given up leaves all as it was, a closed one says so") {
    const graph_scope here{graph()};
    const keyed_barrier<tensor<int>> b;
    const session s;
    s.run(b.insert_many<0>(constant({"a"}), constant({1})));
    CHECK_THROWS_AS(s.run(std::get<2>(b.take_many<2>()), {.timeout = std::chrono::milliseconds(10)}),
                    deadline_exceeded);
    CHECK(s.run(b.ready_size()) == 1);
    s.run(b.close());
    CHECK_THROWS_WITH(s.run(std::get<2>(b.take_many<2>())),
                      contains("insufficient elements (requested 2, total size 1)") && contains("keyed_barrier"));
    CHECK(s.run(std::get<2>(b.take_many(2, {.allow_small_batch = true})))(0) == 1);
    CHECK_THROWS_AS(s.run(std::get<2>(b.take_many(2, {.allow_small_batch = true}))), out_of_range);
}

TEST_CASE("keyed_barrier: two uses of one name agree in their components") {
    session::reset();
    const graph_scope here{graph()};
    const keyed_barrier<tensor<int>> a({.shared_name = "keyed_barrier_test"}), b({.shared_name = "keyed_barrier_test"});
    const keyed_barrier<tensor<float>> c({.shared_name = "keyed_barrier_test"});
    const session s;
    s.run(a.insert_many<0>(constant({"k"}), constant({1})));
    CHECK(s.run(b.ready_size()) == 1);
    CHECK_THROWS_WITH(s.run(c.ready_size()), contains("keyed_barrier of (int32 [])"));
    session::reset();
    CHECK_THROWS_AS(make_op("Barrier")->outputs({}), invalid_argument);
}

} // namespace test_ops_queue_keyed_barrier
