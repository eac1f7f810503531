// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/stack/stack_pop.hpp>

#include <rill/ops/catalogue.hpp>
#include <rill/session/session.hpp>

#include "catch.hpp"

using namespace rill;

namespace test_ops_queue_stack_pop {

TEST_CASE("stack_pop: an empty one is refused, and stays usable") {
    const graph_scope here{graph()};
    const tensor_stack<double> st;
    const session s;
    CHECK_THROWS_AS(s.run(st.pop()), failed_precondition);
    s.run(st.push(2.5));
    CHECK(s.run(st.pop()) == 2.5);
}

} // namespace test_ops_queue_stack_pop
