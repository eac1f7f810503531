// SPDX-License-Identifier: BSD-3-Clause
#include <rill/graph/region.hpp>

#include <rill/graph/scope.hpp>
#include <rill/ops/catalogue.hpp>

#include "catch.hpp"

using namespace rill;

TEST_CASE("region: who may use what lies in it") {
    const graph g;
    const region* outer = g.state().add_region(nullptr, "outer", std::source_location::current());
    const region* inner = g.state().add_region(outer, "inner", {});
    const region* other = g.state().add_region(nullptr, "other", {});
    CHECK(reaches(nullptr, inner));
    CHECK(reaches(outer, inner));
    CHECK(reaches(inner, inner));
    CHECK_FALSE(reaches(inner, outer));
    CHECK_FALSE(reaches(outer, nullptr));
    CHECK_FALSE(reaches(other, inner));
    CHECK_THAT(text_of(*outer), contains("'outer' (made at ") && contains("region.cpp"));
    CHECK(g.state().regions() == std::vector<const region*>{outer, inner, other});
}

TEST_CASE("region: nodes made in it belong to it, and equal ones elsewhere are others") {
    const graph_scope here{graph()};
    const graph g = current_graph();
    placeholder<float> x("x");
    const any_tensor outside = x * 2.f;
    const region* r = g.state().add_region(nullptr, "r", {});
    any_tensor inside;
    {
        const control_dependencies after(x);
        const detail::region_scope open(r);
        inside = x * 2.f;
        CHECK(inside.node()->control_inputs.empty()); // who runs the region waits
    }
    CHECK(inside.node() != outside.node());
    CHECK(inside.node()->inside == r);
    CHECK(outside.node()->inside == nullptr);
    CHECK(g.state().nodes_of(r) == std::vector<const node*>{inside.node()});
    CHECK(any_tensor(x * 2.f).node() == outside.node());
}
