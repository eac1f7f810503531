// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/array/placeholder.hpp>

#include <rill/ops/math/add.hpp>
#include <rill/session/session.hpp>

#include "catch.hpp"

using namespace rill;

TEST_CASE("placeholder: named, typed, never shared, must be fed") {
    const graph g;
    const graph_scope here(g);
    placeholder<float, dyn> a("x"), b("x");
    CHECK(a.name() == "x:0");
    CHECK(b.name() == "x_1:0");
    CHECK(a.static_shape() == dims{dyn});
    const any_tensor open = any_placeholder("open", dtype::int32);
    CHECK_FALSE(open.static_shape().known_rank());
    session s;
    try {
        s.run(a + b, feed(a, std::vector<float>{1.f}));
        FAIL("no error");
    } catch (const invalid_argument& problem) {
        CHECK(std::string(problem.what()).find("'x_1'") != std::string::npos);
        CHECK(std::string(problem.what()).find("placeholder.cpp:") != std::string::npos);
    }
}
