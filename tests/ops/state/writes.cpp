// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/state/writes.hpp>

#include <rill/ops/array/placeholder.hpp>
#include <rill/ops/math/mul.hpp>
#include <rill/session/session.hpp>

#include "catch.hpp"

using namespace rill;

namespace test_ops_state_writes {

std::vector<float> list(const any_array& a) {
    const auto all = a.elements<float>();
    return {all.begin(), all.end()};
}

TEST_CASE("writes: through a handle of any kind, of values of any kind") {
    const graph g;
    const graph_scope here(g);
    const variable<float, 2> typed("v", {1.f, 2.f});
    const any_tensor v = typed;
    placeholder<float, 2> x("x");
    const any_tensor any = any_placeholder("any", dtype::float32);
    const any_tensor by_number = assign(v, 7), by_typed = assign(v, x * 2.f), by_any = assign(v, any),
                     added = assign_add(v, x), more = assign_add(v, 1.f), less = assign_sub(v, any);
    const session s(g);
    s.run(global_variables_initializer());
    const std::vector<float> ten{10, 20};
    CHECK(list(s.run(by_number)) == std::vector<float>{7, 7});
    CHECK(list(s.run(by_typed, feed(x, ten))) == std::vector<float>{20, 40});
    CHECK(list(s.run(added, feed(x, ten))) == std::vector<float>{30, 60});
    CHECK(list(s.run(more)) == std::vector<float>{31, 61});
    const any_array one_and_two = s.run(any_tensor(constant({1.f, 2.f})));
    CHECK(list(s.run(less, feed(any, one_and_two))) == std::vector<float>{30, 59});
    CHECK(list(s.run(by_any, feed(any, one_and_two))) == std::vector<float>{1, 2});
    CHECK(s.run(typed)(1) == 2.f);
}

TEST_CASE("writes: of values of the host") {
    const graph g;
    const graph_scope here(g);
    const any_tensor v = variable<float, 2>("v", {1.f, 2.f});
    const session s(g);
    s.run(global_variables_initializer());
    CHECK(list(s.run(assign(v, std::vector<float>{3.f, 4.f}))) == std::vector<float>{3, 4});
    CHECK(list(s.run(assign_add(v, xt::xtensor<float, 1>{1.f, 1.f}))) == std::vector<float>{4, 5});
    CHECK(list(s.run(assign_sub(v, s.run(v)))) == std::vector<float>{0, 0});
    CHECK_THROWS_WITH(assign(v, std::vector<double>{3., 4.}),
                      contains("'v': the value is float64 [2], not float32 [2]"));
    CHECK_THROWS_WITH(assign(v, xt::xtensor<float, 1>{1.f}), contains("'v'") && contains("writes.cpp"));
}

TEST_CASE("writes: of slices") {
    const graph g;
    const graph_scope here(g);
    const variable<float, 3, 1> typed("v", {{1.f}, {2.f}, {3.f}});
    const any_tensor v = typed, ids = constant({0, 2}), rows = constant({{10.f}, {20.f}});
    const session s(g);
    s.run(global_variables_initializer());
    CHECK(list(s.run(scatter_add(v, ids, rows))) == std::vector<float>{11, 2, 23});
    CHECK(list(s.run(scatter_sub(v, ids, rows))) == std::vector<float>{1, 2, 3});
    CHECK(list(s.run(scatter_update(v, ids, rows))) == std::vector<float>{10, 2, 20});
    CHECK(list(s.run(scatter_add(v, {0, 2}, rows))) == std::vector<float>{20, 2, 40}); // ids of the host
    CHECK(list(s.run(scatter_sub(v, {1}, constant({{1.f}})))) == std::vector<float>{20, 1, 40});
    CHECK(list(s.run(scatter_update(v, 1, constant({5.f})))) == std::vector<float>{20, 5, 40});
    CHECK(list(s.run(any_tensor(typed.scatter_add({0, 2}, rows)))) == std::vector<float>{30, 5, 60});
    CHECK(list(s.run(any_tensor(typed.scatter_update(1, constant({7.f}))))) == std::vector<float>{30, 7, 60});
    CHECK(list(s.run(any_tensor(typed.scatter_max(std::array{1}, constant({{9.f}}))))) ==
          std::vector<float>{30, 9, 60});
    CHECK_THROWS_WITH(s.run(typed.scatter_mul({3}, constant({{9.f}}))), contains("id 3 at [0] is outside [0, 3)"));
    CHECK_THROWS_WITH(scatter_add(v, {0, 2}, constant({{1.f}})), contains("the updates must be of shape [2, 1]"));
}

TEST_CASE("writes: a typed variable takes tensors whose type is known at run time only") {
    const graph g;
    const graph_scope here(g);
    const any_tensor first = any_tensor(constant({1.f, 2.f}));
    const variable<float, 2> v("v", first);
    const session s(g);
    s.run(global_variables_initializer());
    CHECK(s.run(v)(1) == 2.f);
    CHECK(s.run(v.assign(any_tensor(v) * 2.f))(1) == 4.f);
    CHECK(s.run(v.assign_add(first))(0) == 3.f);
    CHECK(s.run(v.assign_sub(first))(0) == 2.f);
    const any_tensor wrong = any_tensor(constant({1.f, 2.f, 3.f}));
    CHECK_THROWS_WITH(v.assign(wrong), contains("float32 [2] expected") && contains("writes.cpp"));
    CHECK_THROWS_AS((variable<float, 2>("w", wrong)), invalid_argument);
}

TEST_CASE("writes: refusals name the op, the operands and the place") {
    const graph g;
    const graph_scope here(g);
    const any_tensor v = variable<float, 2>("v", {1.f, 2.f}), n = variable<int>("n", 1);
    placeholder<float, 2> x("x");
    CHECK_THROWS_WITH(assign(x, 1.f), contains("assign: 'x:0' is not a variable"));
    CHECK_THROWS_WITH(assign_add(any_tensor(x), 1.f), contains("assign_add: 'x:0' is not a variable"));
    CHECK_THROWS_WITH(scatter_add(x, constant({0}), constant({1.f})), contains("scatter_add: 'x:0' is not a variable"));
    CHECK_THROWS_WITH(assign(v, constant({1.f, 2.f, 3.f})),
                      contains("assign: the variable is float32 [2], the value float32 [3]") && contains("writes.cpp"));
    CHECK_THROWS_WITH(assign_add(v, constant({1, 2})), contains("assign_add: the dtypes differ"));
    CHECK_THROWS_WITH(assign(n, 1.5f), contains("assign: the literal 1.500000 (float32) does not go with int32"));
    CHECK_THROWS_WITH(assign(any_tensor(), 1.f), contains("assign: a null tensor was used (at writes.cpp:"));
    CHECK_THROWS_WITH(scatter_add(any_tensor(), v, v), contains("scatter_add: a null tensor was used"));
}

} // namespace test_ops_state_writes
