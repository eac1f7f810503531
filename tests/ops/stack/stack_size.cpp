// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/stack/stack_size.hpp>

#include <rill/ops/catalogue.hpp>
#include <rill/session/session.hpp>

#include "catch.hpp"

using namespace rill;

namespace test_ops_queue_stack_size {

TEST_CASE("stack_size: of a stack only") {
    const graph_scope here{graph()};
    const tensor_stack<int> st;
    const semaphore other("other");
    const session s;
    s.run(st.push(1));
    CHECK(s.run(st.size()) == 1);
    CHECK_THROWS_WITH(s.run(any_tensor(apply_node(stack_size_op{}, std::source_location::current(), other.handle()))),
                      contains("stack is expected, not of a semaphore"));
}

} // namespace test_ops_queue_stack_size
