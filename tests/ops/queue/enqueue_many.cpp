// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/queue/enqueue_many.hpp>

#include <rill/ops/catalogue.hpp>
#include <rill/session/session.hpp>

#include "catch.hpp"

using namespace rill;
using namespace std::chrono_literals;

namespace test_ops_queue_enqueue_many {

TEST_CASE("enqueue_many: slices go in as there is room") {
    const graph_scope here{graph()};
    const fifo_queue<tensor<int>, tensor<float, 2>> q({.capacity = 2});
    const auto put = q.enqueue_many(range(0, 5), fill<5, 2>(1.f));
    const auto [n, x] = q.dequeue_many<5>();
    const session s;
    const auto [got, xs] = s.run(std::tuple(n, x, put));
    CHECK((got == xt::xtensor<int, 1>{0, 1, 2, 3, 4}));
    CHECK_THROWS_AS(s.run(put, {.timeout = 1ms}), deadline_exceeded);
    CHECK(s.run(q.size()) == 2); // those stay
    placeholder<int, dyn> none("none");
    placeholder<float, dyn, 2> nothing("nothing");
    const session t;
    t.run(q.enqueue_many(none, nothing), feed(none, std::vector<int>{}),
          feed(nothing, xt::xtensor<float, 2>(std::array<std::size_t, 2>{0, 2})));
    CHECK(t.run(q.size()) == 0);
    CHECK_THROWS_WITH(t.run(q.enqueue_many(none, nothing), feed(none, {1}),
                            feed(nothing, xt::xtensor<float, 2>(std::array<std::size_t, 2>{2, 2}))),
                      contains("of one extent"));
}

} // namespace test_ops_queue_enqueue_many
