// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/state/count_up_to.hpp>

#include <rill/ops/array/placeholder.hpp>
#include <rill/ops/state/variable.hpp>
#include <rill/session/session.hpp>

#include "catch.hpp"

using namespace rill;

namespace test_ops_state_count_up_to {

template <class T> void counts() {
    const graph g;
    const graph_scope here(g);
    variable<T> v("counter", T(-1), {.trainable = false});
    const tensor<T> next = v.count_up_to(2);
    const any_tensor untyped = count_up_to(any_tensor(v), 3);
    const session s(g);
    CHECK_THROWS_WITH(s.run(next), contains("uninitialized") && contains("counter"));
    s.run(global_variables_initializer());
    CHECK(s.run(next) == -1);
    CHECK(s.run(std::tuple(next, v)) == std::tuple(T(0), T(0))); // a use is the value when the step began
    CHECK(s.run(next) == 1);
    for (int i = 0; i < 2; ++i)
        CHECK_THROWS_WITH(s.run(next), contains("count_up_to: the limit 2 is reached") && contains("'counter'"));
    CHECK_THROWS_AS(s.run(next), out_of_range);
    CHECK(s.run(v) == 2);
    CHECK(s.run(untyped).template value<T>() == 2);
    CHECK_THROWS_AS(s.run(untyped), out_of_range);
    CHECK(s.run(v) == 3);
}

TEST_CASE("count_up_to: the value before, up to the limit") {
    counts<int>();
    counts<std::int64_t>();
}

TEST_CASE("count_up_to: refusals, and by name") {
    const graph g;
    const graph_scope here(g);
    variable<int, 2> two("two", {1, 2});
    variable<float> real("real", 1.f);
    variable<int> v("v", 1);
    CHECK_THROWS_WITH(count_up_to(any_tensor(two), 3),
                      contains("count_up_to: the variable must be of rank 0, not [2]"));
    CHECK_THROWS_WITH(count_up_to(any_tensor(real), 3), contains("count_up_to") && contains("float32"));
    CHECK_THROWS_WITH(count_up_to(placeholder<int>("x"), 3), contains("count_up_to: 'x:0' is not a variable"));
    CHECK_THROWS_WITH(v.count_up_to(std::int64_t(1) << 40),
                      contains("count_up_to: the limit 1099511627776 is not a valid int32"));
    const op_ptr made = make_op(count_up_to_op{7});
    CHECK(make_op("CountUpTo", 1, bytes_of_fields(*made))->equals(*made));
    CHECK_FALSE(make_op("CountUpTo")->equals(*made));
}

} // namespace test_ops_state_count_up_to
