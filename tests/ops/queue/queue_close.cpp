// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/queue/queue_close.hpp>

#include <thread>

#include <rill/ops/catalogue.hpp>
#include <rill/session/session.hpp>

#include "catch.hpp"

using namespace rill;
using namespace std::chrono_literals;

namespace test_ops_queue_queue_close {

TEST_CASE("queue_close: what waits goes in before, or is told off") {
    for (const bool cancel : {false, true}) {
        const graph_scope here{graph()};
        const fifo_queue<tensor<int>> q({.capacity = 1});
        const auto put = q.enqueue(2);
        const auto end = q.close({.cancel_pending_enqueues = cancel});
        const auto size = q.size();
        const session s;
        s.run(put);
        bool failed = false;
        std::thread waits([&] {
            try {
                s.run(put);
            } catch (const cancelled&) {
                failed = true;
            }
        });
        if (cancel) {
            s.run(end);
        } else {
            const auto [one] = s.run(std::tuple(q.dequeue(), end)); // room for the one that waits
            CHECK(one == 2);
        }
        waits.join();
        CHECK((failed || s.run(size) == 1));
        CHECK_THROWS_AS(s.run(put), cancelled);
        if (!cancel) CHECK_THROWS_WITH(s.run(end), contains("already closed"));
        s.run(q.close({.cancel_pending_enqueues = true})); // may come again
        CHECK(s.run(q.is_closed()));
    }
}

} // namespace test_ops_queue_queue_close
