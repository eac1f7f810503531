// SPDX-License-Identifier: BSD-3-Clause
#include <rill/runtime/dynamic_runtime.hpp>

#include <rill/ops/catalogue.hpp>
#include <rill/session/session.hpp>

#include "catch.hpp"

using namespace rill;

TEST_CASE("dynamic_runtime: is registered with the first dynamic node") {
    const graph_scope here{graph()};
    const auto& made = current_graph().state();
    placeholder<float> x("x");
    const tensor y = 2.f * x;
    CHECK_FALSE(made.may_be_dynamic());
    CHECK(session().run(y, feed(x, 3.f)) == 6.f);
    const auto once = cond(x > 0.f, [&] { return y; }, [&] { return -y; });
    CHECK(made.may_be_dynamic());
    CHECK(detail::registered_dynamic_runtime.load() != nullptr);
    CHECK(session().run(once, feed(x, -3.f)) == 6.f);
    CHECK(session().run(y, feed(x, 3.f)) == 6.f);
}

TEST_CASE("dynamic_runtime: ops are dynamic that wait, size their results, or are primitives") {
    const auto is_dynamic = [](const auto& made) { return make_op(made)->is_dynamic(); };
    CHECK(is_dynamic(where_op{}));
    CHECK(is_dynamic(mutex_acquire_op{}));
    CHECK(is_dynamic(merge_op{}));
    CHECK(is_dynamic(while_op{}));
    CHECK_FALSE(is_dynamic(identity_op{}));
    CHECK_FALSE(is_dynamic(mutex_op{}));
}
