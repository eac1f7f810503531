// SPDX-License-Identifier: BSD-3-Clause
#include <rill/core/resource.hpp>

#include <set>

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
    const auto task = detail::process_incarnation();
    auto first = std::make_shared<lamp>();
    const auto other = std::make_shared<lamp>();
    CHECK(first->number() == 0);
    detail::make_findable(first, task);
    detail::make_findable(other, task);
    CHECK(first->number() > 0);
    CHECK(first->number() != other->number());
    CHECK(resource_as<lamp>(first->number()) == first);
    CHECK_THROWS_WITH(resource_as<chair>(first->number()),
                      contains("a chair is expected") && contains("a lamp of glass"));
    const auto number = first->number();
    first.reset();
    CHECK(!detail::find_resource(number));
    CHECK_THROWS_AS(resource_as<lamp>(number), invalid_argument);
    for (const std::int64_t none : {number, std::int64_t(-1), std::int64_t(0), std::int64_t(7)})
        CHECK_THROWS_WITH(resource_as<lamp>(none), contains("nothing that is there"));
}

struct shelf : resource {
    std::string described() const override { return "shelf of oak"; }
    std::vector<named_array> saved_parts() const override { return {{"books", any_array(dtype::int32, dims{})}}; }
};

TEST_CASE("resource: one that saves nothing takes no state, and one that saves some is asked by its own check") {
    lamp none;
    CHECK(none.saved_parts().empty());
    CHECK_THROWS_WITH(none.check_parts({}), contains("can't hold the state of a lamp of glass"));
    CHECK_THROWS_WITH(none.restore_parts({}), contains("can't hold the state of a lamp of glass"));
    shelf().check_parts({}); // its restore_parts says more
}

TEST_CASE("resource: a handle belongs to one task") {
    const auto task = detail::draw_incarnation(), other = detail::draw_incarnation();
    CHECK(task != other);
    const auto made = std::make_shared<lamp>();
    detail::make_findable(made, task);
    CHECK((made->number() >> 32) == task);
    CHECK(resource_as<lamp>(made->number(), task) == made);
    CHECK(resource_as<lamp>(made->number()) == made); // any task of this process
    CHECK_THROWS_AS(resource_as<lamp>(made->number(), other), invalid_argument);
    CHECK_THROWS_WITH(resource_as<lamp>(made->number(), other), contains("a handle of another task"));
    const auto of_another_process = (std::int64_t(other) << 32) + 1;
    CHECK_THROWS_WITH(resource_as<lamp>(of_another_process), contains("a handle of another task"));
    CHECK_THROWS_WITH(resource_as<lamp>(made->number() + 1000000, task), contains("nothing that is there"));
}

TEST_CASE("resource: incarnations fit 31 bits and differ") {
    std::set<std::uint32_t> drawn;
    for (int i = 0; i < 1000; ++i) {
        const auto incarnation = detail::draw_incarnation();
        CHECK((incarnation > 0 && incarnation <= 0x7fffffffu));
        drawn.insert(incarnation);
    }
    CHECK(drawn.size() >= 999); // two of a thousand are equal once in 4,300 programs
    CHECK(detail::process_incarnation() == detail::process_incarnation());
}

TEST_CASE("resource: only what has neither container nor shared name is the session's own") {
    CHECK(resource_name{}.is_private());
    CHECK(!resource_name{"a", ""}.is_private());
    CHECK(!resource_name{"", "b"}.is_private());
    CHECK(resource_name{"a", ""}.known_as("node") == "node");
    CHECK(resource_name{"a", "b"}.known_as("node") == "b");
}

} // namespace test_core_resource
