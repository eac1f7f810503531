// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/control/region/argument.hpp>

#include <rill/ops/catalogue.hpp>
#include <rill/session/session.hpp>

#include "catch.hpp"

using namespace rill;

TEST_CASE("argument: has the type of what the body is given, and must be fed") {
    const graph_scope here{graph()};
    dims seen;
    const auto done = while_loop([](auto i, auto) { return i < 1; },
                                 [&](auto i, auto v) {
                                     seen = v.static_shape();
                                     return std::tuple(i + 1, v);
                                 },
                                 0, constant({1.f, 2.f}));
    CHECK(seen == dims{2});
    const any_tensor lost =
        endpoint{detail::add_node(current_graph(), make_op(argument_op{{dtype::float32, {}}}), {}), 0};
    CHECK_THROWS_WITH(session().run(lost), contains("is needed but was not fed"));
    CHECK_FALSE(argument_op{{dtype::float32, {}}}.type.type == dtype::float64);
}
