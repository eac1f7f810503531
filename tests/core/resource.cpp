// SPDX-License-Identifier: BSD-3-Clause
#include <rill/core/resource.hpp>

#include "catch.hpp"

using namespace rill;

namespace test_core_resource {

struct lamp : resource {
    static constexpr auto kind = "lamp";
    std::string described() const override { return "lamp of glass"; }
};
struct chair : resource {
    static constexpr auto kind = "chair";
    std::string described() const override { return "chair of wood"; }
};

TEST_CASE("resource: found by its number as long as it lives, and as what it is") {
    auto first = std::make_shared<lamp>();
    const auto other = std::make_shared<lamp>();
    CHECK(first->number() != other->number());
    CHECK(!detail::find_resource(first->number())); // not said to be findable
    detail::make_findable(first);
    CHECK(resource_as<lamp>(first->number()) == first);
    CHECK_THROWS_WITH(resource_as<chair>(first->number()),
                      contains("a chair is expected") && contains("a lamp of glass"));
    const auto number = first->number();
    first.reset();
    CHECK(!detail::find_resource(number));
    CHECK_THROWS_AS(resource_as<lamp>(number), invalid_argument);
    CHECK_THROWS_WITH(resource_as<lamp>(-1), contains("nothing that is there"));
}

TEST_CASE("resource: only what has neither container nor shared name is the session's own") {
    CHECK(resource_name{}.is_private());
    CHECK(!resource_name{"a", ""}.is_private());
    CHECK(!resource_name{"", "b"}.is_private());
}

} // namespace test_core_resource
