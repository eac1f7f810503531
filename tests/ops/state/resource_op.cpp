// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/state/resource_op.hpp>

#include <rill/ops/catalogue.hpp>
#include <rill/session/session.hpp>

#include "catch.hpp"

using namespace rill;

namespace test_ops_state_resource_op {

TEST_CASE("resource_op: counts of either integer type, of rank 0") {
    const std::int32_t small = 7;
    const std::int64_t large = 1LL << 40;
    CHECK(detail::count_of(dtype::int32, &small) == 7);
    CHECK(detail::count_of(dtype::int64, &large) == 1LL << 40);
    CHECK_NOTHROW(detail::check_count_operand({dtype::int64, dims::unknown()}, "n"));
    CHECK_THROWS_WITH(detail::check_count_operand({dtype::float32, dims{}}, "n"), contains("n must be int32 or int64"));
    CHECK_THROWS_WITH(detail::check_count_operand({dtype::int32, dims{2}}, "n"), contains("rank 0") && contains("[2]"));
}

TEST_CASE("resource_op: a resource is there whatever body or container it was made in") {
    const graph_scope here{graph()};
    std::string name;
    const auto n = while_loop([](auto i) { return i < 3; },
                              [&](auto i) {
                                  const tensor_stack<int> st({.name = "within"});
                                  name = st.name();
                                  const operation push = st.push(i);
                                  const control_dependencies after(push);
                                  return i + st.size() - st.size() + 1;
                              },
                              0);
    CHECK(name == "while/body/within");
    const session s;
    CHECK(s.run(n) == 3);
    const container_scope box("resource_op_test");
    const tensor_stack<int> boxed({.name = "boxed"});
    const session one, other;
    one.run(boxed.push(5));
    CHECK(other.run(boxed.pop()) == 5);
    session::reset();
}

TEST_CASE("resource_op: what can be no handle is refused") {
    const graph_scope here{graph()};
    const mutex_acquire_op op;
    CHECK_THROWS_WITH(apply_node(op, std::source_location{}, constant(1.f)), contains("float32 []"));
    CHECK_THROWS_WITH(apply_node(op, std::source_location{}, constant({std::int64_t(1), std::int64_t(2)})),
                      contains("the handle of a resource is expected"));
    CHECK_THROWS_WITH(apply_node(accumulator_take_gradient_op{}, std::source_location{}, constant(1.f), constant(1)),
                      contains("the handle of a resource is expected"));
    const tensor_type types[] = {{dtype::int64, dims{1}}, {dtype::float32, dims{2}}, {dtype::int64, dims{}}};
    CHECK_THROWS_WITH(make_op(accumulator_apply_gradient_op{})->outputs({types}),
                      contains("the handle of a resource is expected"));
    const any_tensor open = any_placeholder("open", dtype::int64); // of no rank yet
    const any_tensor nothing = apply_node(semaphore_value_op{}, std::source_location{}, open);
    const session s;
    CHECK_THROWS_AS(s.run(nothing, feed(open, any_array(dtype::int64, dims{0}))), invalid_argument);
    CHECK_THROWS_WITH(s.run(nothing, feed(open, to_any_array<std::int64_t>(std::int64_t(77777777)))),
                      contains("nothing that is there"));
}

} // namespace test_ops_state_resource_op
