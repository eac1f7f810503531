// SPDX-License-Identifier: BSD-3-Clause
#include <rill/runtime/control_flow.hpp>

#include <rill/ops/catalogue.hpp>
#include <rill/session/session.hpp>

#include "catch.hpp"

using namespace rill;

TEST_CASE("control_flow: comes to a graph with the first node that needs it") {
    const graph_scope here{graph()};
    const auto& made = current_graph().state();
    placeholder<float> x("x");
    const tensor y = 2.f * x;
    CHECK(made.control() == nullptr);
    CHECK(session().run(y, feed(x, 3.f)) == 6.f);
    const auto once = cond(x > 0.f, [&] { return y; }, [&] { return -y; });
    CHECK(made.control() == &detail::control_flow_of_program());
    CHECK(session().run(once, feed(x, -3.f)) == 6.f);
    CHECK(session().run(y, feed(x, 3.f)) == 6.f);
}

TEST_CASE("control_flow: of ops that wait, size their results, or are primitives") {
    const auto control = [](const auto& made) { return make_op(made)->control(); };
    CHECK(control(where_op{}));
    CHECK(control(mutex_acquire_op{}));
    CHECK(control(merge_op{}));
    CHECK(control(while_op{}));
    CHECK_FALSE(control(identity_op{}));
    CHECK_FALSE(control(mutex_op{}));
}
