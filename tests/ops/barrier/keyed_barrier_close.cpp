// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/barrier/keyed_barrier_close.hpp>

#include <chrono>

#include <rill/ops/catalogue.hpp>
#include <rill/session/session.hpp>

#include "catch.hpp"

using namespace rill;

namespace test_ops_queue_keyed_barrier_close {

TEST_CASE("keyed_barrier_close: no new keys, with cancel_pending_enqueues nothing at all") {
    const graph_scope here{graph()};
    const keyed_barrier<tensor<int>, tensor<int>> b;
    const session s;
    const auto keys = constant({"a"}), other = constant({"b"});
    s.run(b.insert_many<0>(keys, constant({1})));
    s.run(b.close());
    CHECK_THROWS_WITH(s.run(b.close()), contains("already closed"));
    CHECK_THROWS_WITH(s.run(b.insert_many<0>(other, constant({1}))), contains("no new key 'b'"));
    // a waits to be complete, and who takes waits for it
    CHECK_THROWS_AS(s.run(std::get<0>(b.take_many<1>()), {.timeout = std::chrono::milliseconds(10)}),
                    deadline_exceeded);
    CHECK_THROWS_AS(s.run(std::get<0>(b.take_many<2>())), out_of_range);
    s.run(b.close({.cancel_pending_enqueues = true}));
    CHECK_THROWS_AS(s.run(b.insert_many<1>(keys, constant({1}))), cancelled);
    CHECK_THROWS_AS(s.run(std::get<0>(b.take_many<1>())), out_of_range);
    CHECK_THROWS_AS(s.run(b.close({.cancel_pending_enqueues = true})), cancelled);
}

} // namespace test_ops_queue_keyed_barrier_close
