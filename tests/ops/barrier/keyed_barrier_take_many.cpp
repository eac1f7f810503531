// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/barrier/keyed_barrier_take_many.hpp>

#include <rill/ops/catalogue.hpp>
#include <rill/session/session.hpp>

#include "catch.hpp"

using namespace rill;

namespace test_ops_queue_keyed_barrier_take_many {

TEST_CASE("keyed_barrier_take_many: by number or tensor, in order of coming. Shapes may differ, not within a batch") {
    const graph_scope here{graph()};
    const keyed_barrier<tensor<float, dyn>> b;
    placeholder<int> n("n");
    const auto of = std::get<2>(b.take_many(n));
    static_assert(std::is_same_v<decltype(of), const tensor<float, dyn, dyn>>);
    const session s;
    s.run(b.insert_many<0>(constant({"a"}), constant({{1.f}})));
    s.run(b.insert_many<0>(constant({"b", "c"}), constant({{1.f, 2.f}, {3.f, 4.f}})));
    CHECK(s.run(of, feed(n, 0)).size() == 0);
    CHECK_THROWS_AS(s.run(of, feed(n, 2)), invalid_argument);
    CHECK_THROWS_WITH(s.run(of, feed(n, -1)), contains("-1 elements"));
    CHECK(s.run(b.ready_size()) == 3); // nothing of it was taken
    CHECK((s.run(of, feed(n, 1)) == xt::xtensor<float, 2>{{1.f}}));
    CHECK((s.run(of, feed(n, 2)) == xt::xtensor<float, 2>{{1.f, 2.f}, {3.f, 4.f}}));
    CHECK_THROWS_AS(b.take_many(constant(1.f)), invalid_argument);
}

TEST_CASE("keyed_barrier_take_many: of a barrier whose elements are others is refused, and nothing is taken") {
    const graph_scope here{graph()};
    const keyed_barrier<tensor<float, 2>> b({.name = "b"});
    const any_tensor handle(endpoint{current_graph().state().find("b"), 0}),
        open = any_placeholder("open", dtype::int64);
    keyed_barrier_take_many_op op;
    op.components = {{dtype::float32, dims{3}}};
    const any_tensor got(endpoint{apply_node(op, std::source_location{}, open, constant(1)).node(), 2});
    const session s;
    s.run(b.insert_many<0>(constant({"a"}), constant({{1.f, 2.f}})));
    CHECK_THROWS_WITH(s.run(got, feed(open, s.run(handle))), contains("(float32 [2]), not (float32 [3])"));
    CHECK(s.run(b.ready_size()) == 1);
}

} // namespace test_ops_queue_keyed_barrier_take_many
