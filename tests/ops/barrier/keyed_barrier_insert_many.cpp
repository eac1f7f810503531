// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/barrier/keyed_barrier_insert_many.hpp>

#include <rill/ops/catalogue.hpp>
#include <rill/session/session.hpp>

#include "catch.hpp"

using namespace rill;

namespace test_ops_queue_keyed_barrier_insert_many {

TEST_CASE("keyed_barrier_insert_many: what can't go in is refused, and nothing of it is in") {
    const graph_scope here{graph()};
    const keyed_barrier<tensor<int>, tensor<int>> b;
    placeholder<std::string, dyn> keys("keys");
    placeholder<int, dyn> values("values");
    const auto put = b.insert_many<0>(keys, values);
    const session s;
    const auto with = [&](const std::vector<std::string>& k, const std::vector<int>& v) {
        s.run(put, feed(keys, k), feed(values, v));
    };
    with({"a"}, {1});
    CHECK_THROWS_WITH(with({"b", "a"}, {2, 1}),
                      contains("key 'a' has a value for component 0") && contains("keyed_barrier_insert_many"));
    CHECK_THROWS_AS(with({"c", "c"}, {2, 1}), invalid_argument);
    CHECK_THROWS_WITH(with({"b", "c"}, {2}), contains("2 keys and 1 values"));
    CHECK(s.run(b.incomplete_size()) == 1);
    with({}, {});
    CHECK(s.run(b.incomplete_size()) == 1);
    keyed_barrier_insert_many_op op;
    op.component = 2;
    CHECK_THROWS_WITH(s.run(operation(apply_node(op, {}, b.handle(), constant({"k"}), constant({1})).node())),
                      contains("no component 2 of 2"));
    op.component = 1;
    CHECK_THROWS_WITH(s.run(operation(apply_node(op, {}, b.handle(), constant({"k"}), constant({1.f})).node())),
                      contains("component 1 is int32 []"));
    CHECK_THROWS_AS(apply_node(op, {}, b.handle(), constant({1}), constant({1})), invalid_argument);
    CHECK_THROWS_AS(apply_node(op, {}, b.handle(), constant({"k"}), constant(1)), invalid_argument);
    op.component = -1;
    CHECK_THROWS_AS(apply_node(op, {}, b.handle(), constant({"k"}), constant({1})), invalid_argument);
}

} // namespace test_ops_queue_keyed_barrier_insert_many
