// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/queue/queue_op.hpp>

#include <rill/graph/op/field_bytes.hpp>
#include <rill/ops/catalogue.hpp>
#include <rill/session/session.hpp>

#include "catch.hpp"

using namespace rill;
using namespace std::chrono_literals;

namespace test_ops_queue_queue_op {

TEST_CASE("queue_op: the ops of queues check their handle and their operands") {
    const graph_scope here{graph()};
    const fifo_queue<tensor<float>> q;
    dequeue_op take;
    take.components = {{dtype::float32, {}}};
    const any_tensor no_queue = apply_node(take, std::source_location{}, constant(std::int64_t(123456789)));
    const session s;
    CHECK_THROWS_WITH(s.run(no_queue), contains("the handle of a queue is expected") && contains("node 'dequeue'"));
    enqueue_op put;
    put.components = {{dtype::float32, {}}, {dtype::int32, {}}};
    CHECK_THROWS_WITH(apply_node(put, std::source_location{}, q.handle(), constant(1.f)),
                      contains("2 components, 1 are given"));
    CHECK_THROWS_WITH(apply_node(put, std::source_location{}, q.handle(), constant(1.f), constant(1.f)),
                      contains("component 1"));
}

TEST_CASE("queue_op: components are fields, and their number is checked") {
    const auto op = make_op([] {
        enqueue_op e;
        e.components = {{dtype::float32, {2, dyn}}, {dtype::string, {}}};
        return e;
    }());
    const auto bytes = bytes_of_fields(*op);
    const auto same = make_op("QueueEnqueue", 1, bytes);
    CHECK(same->equals(*op));
    std::vector<tensor_type> many(1001);
    CHECK_THROWS_AS(make_op("QueueEnqueue", 1, bytes_of_fields(*make_op([&] {
                                enqueue_op e;
                                e.components = many;
                                return e;
                            }()))),
                    invalid_argument);
}

} // namespace test_ops_queue_queue_op
