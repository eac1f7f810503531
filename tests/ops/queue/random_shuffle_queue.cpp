// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/queue/random_shuffle_queue.hpp>

#include <rill/ops/catalogue.hpp>
#include <rill/session/session.hpp>

#include "catch.hpp"

using namespace rill;
using namespace std::chrono_literals;

namespace test_ops_queue_random_shuffle_queue {

TEST_CASE("random_shuffle_queue: all leave, in an order that the seed decides, but for those that stay") {
    const auto drawn = [](std::uint64_t seed, int replica = 0) {
        const graph_scope here{graph()};
        const random_shuffle_queue<tensor<int>> q({.capacity = 100, .min_after_dequeue = 10, .seed = seed});
        const session s({.replica = replica});
        s.run(q.enqueue_many(range(0, 50)));
        const auto got = s.run(q.dequeue_many<40>());
        CHECK_THROWS_AS(s.run(q.dequeue(), {.timeout = 1ms}), deadline_exceeded); // ten stay
        s.run(q.close());
        const auto rest = s.run(q.dequeue_up_to(100));
        CHECK(rest.size() == 10);
        std::vector<int> all(got.begin(), got.end());
        all.insert(all.end(), rest.begin(), rest.end());
        return all;
    };
    auto first = drawn(7);
    CHECK(first == drawn(7));
    CHECK(first != drawn(8));
    CHECK(first != drawn(7, 1));
    CHECK(drawn(7, 1) == drawn(7, 1));
    CHECK(drawn(0) != drawn(0, 1));
    CHECK(!std::is_sorted(first.begin(), first.end()));
    std::sort(first.begin(), first.end());
    for (int i = 0; i < 50; ++i) CHECK(first[static_cast<std::size_t>(i)] == i);
    const graph_scope here{graph()};
    CHECK_THROWS_WITH(random_shuffle_queue<tensor<int>>({.capacity = 3, .min_after_dequeue = 3}),
                      contains("min_after_dequeue"));
}

} // namespace test_ops_queue_random_shuffle_queue
