// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/stack/stack_push.hpp>

#include <rill/ops/catalogue.hpp>
#include <rill/session/session.hpp>

#include "catch.hpp"

using namespace rill;

namespace test_ops_queue_stack_push {

TEST_CASE("stack_push: keeps a copy") {
    const graph_scope here{graph()};
    const tensor_stack<float, dyn> st;
    placeholder<float, dyn> x("x");
    const session s;
    std::vector<float> mine{1.f, 2.f};
    s.run(st.push(x), feed(x, mine));
    mine[0] = 9.f;
    CHECK(s.run(st.pop())(0) == 1.f);
}

} // namespace test_ops_queue_stack_push
