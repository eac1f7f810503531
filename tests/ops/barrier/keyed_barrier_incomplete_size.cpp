// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/barrier/keyed_barrier_incomplete_size.hpp>

#include <rill/ops/catalogue.hpp>
#include <rill/session/session.hpp>

#include "catch.hpp"

using namespace rill;

namespace test_ops_queue_keyed_barrier_incomplete_size {

TEST_CASE("keyed_barrier_incomplete_size: follows what comes and goes") {
    const graph_scope here{graph()};
    const keyed_barrier<tensor<int>, tensor<int>> b;
    const auto size = b.incomplete_size();
    const session s;
    CHECK(s.run(size) == 0);
    s.run(b.insert_many<0>(constant({"a", "b"}), constant({1, 2})));
    CHECK(s.run(size) == 2);
    s.run(b.insert_many<1>(constant({"b"}), constant({2})));
    CHECK(s.run(size) == 1);
    s.run(std::get<0>(b.take_many<1>()));
    CHECK(s.run(size) == 1);
}

} // namespace test_ops_queue_keyed_barrier_incomplete_size
