// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/queue/padding_fifo_queue.hpp>

#include <rill/ops/catalogue.hpp>
#include <rill/session/session.hpp>

#include "catch.hpp"

using namespace rill;
using namespace std::chrono_literals;

namespace test_ops_queue_padding_fifo_queue {

TEST_CASE("padding_fifo_queue: a batch has the extents of its longest elements, others end in zeros") {
    const graph_scope here{graph()};
    placeholder<float, dyn, dyn> x("x");
    const padding_fifo_queue<tensor<float, dyn, dyn>> q({.capacity = 50});
    const auto put = q.enqueue(x);
    const auto batch = q.dequeue_many<3>();
    const session s;
    s.run(put, feed(x, xt::xtensor<float, 2>{{1.f, 2.f}}));
    s.run(put, feed(x, xt::xtensor<float, 2>{{1.f}, {2.f}, {3.f}}));
    s.run(put, feed(x, xt::xtensor<float, 2>{{1.f, 2.f, 3.f, 4.f}}));
    const auto got = s.run(batch);
    CHECK((got == xt::xtensor<float, 3>{{{1, 2, 0, 0}, {0, 0, 0, 0}, {0, 0, 0, 0}},
                                        {{1, 0, 0, 0}, {2, 0, 0, 0}, {3, 0, 0, 0}},
                                        {{1, 2, 3, 4}, {0, 0, 0, 0}, {0, 0, 0, 0}}}));
    s.run(put, feed(x, xt::xtensor<float, 2>{{1.f, 2.f}}));
    CHECK((s.run(q.dequeue()) == xt::xtensor<float, 2>{{1.f, 2.f}}));
}

TEST_CASE("fifo_queue: elements of several shapes make no batch, and stay") {
    const graph_scope here{graph()};
    placeholder<float, dyn> x("x");
    const fifo_queue<tensor<float, dyn>> q({.capacity = 50});
    const auto put = q.enqueue(x);
    const session s;
    s.run(put, feed(x, {1.f}));
    s.run(put, feed(x, {1.f, 2.f}));
    CHECK_THROWS_WITH(s.run(q.dequeue_many<2>()), contains("padding_fifo_queue"));
    CHECK(s.run(q.size()) == 2);
    CHECK((s.run(q.dequeue()) == xt::xtensor<float, 1>{1.f}));
}

} // namespace test_ops_queue_padding_fifo_queue
