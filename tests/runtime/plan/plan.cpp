// SPDX-License-Identifier: BSD-3-Clause
#include <rill/runtime/plan/plan.hpp>

#include <rill/core/log.hpp>
#include <rill/ops/array/placeholder.hpp>
#include <rill/ops/math/add.hpp>
#include <rill/ops/math/exp.hpp>
#include <rill/ops/math/mul.hpp>
#include <rill/ops/state/variable.hpp>

#include "catch.hpp"

using namespace rill;

namespace test_plan {

struct fixture {
    graph g;
    graph_scope here{g};
    placeholder<float, dyn> x{"x"};
    std::shared_ptr<detail::resource_store> resources = std::make_shared<detail::resource_store>(default_allocator());

    detail::plan plan(const std::vector<endpoint>& fetches, const session_options& options = {}) const {
        return detail::plan({fetches, {}, {x}}, options, resources, detail::make_placement(options));
    }
    static std::vector<tensor_type> floats(index_t n) { return {{dtype::float32, dims{n}}}; }
};

} // namespace test_plan

using test_plan_fixture = test_plan::fixture;

TEST_CASE_METHOD(test_plan_fixture, "plan: pruned, shared and ordered once") {
    const tensor a(exp(x), "a"), twin(exp(x), "twin"), unused(x + 1.f, "unused");
    const tensor b(a * twin, "b");
    auto p = plan({b});
    std::vector<std::string> names;
    for (int i = 0; i < static_cast<int>(p.graph().items.size()); ++i) names.push_back(p.graph().name_of(i));
    CHECK(names == std::vector<std::string>{"feed of x:0", "a", "b"});
}

TEST_CASE_METHOD(test_plan_fixture, "plan: one segment a list of shapes, those used last are kept") {
    auto p = plan({tensor(exp(x))});
    const auto three = p.bind(floats(3)), four = p.bind(floats(4));
    CHECK(three != four);
    CHECK(p.bind(floats(3)) == three);
    CHECK(three->fetch_type(0).shape == dims{3});
    for (index_t n = 100; n < 114; ++n) {
        p.bind(floats(n));
        CHECK(p.bind(floats(3)) == three); // in use, so it stays
    }
    const auto last = p.bind(floats(114)); // a seventeenth: the one not used for longest goes
    CHECK(p.bind(floats(3)) == three);
    CHECK(p.bind(floats(114)) == last);
    CHECK(p.bind(floats(4)) != four);
}

TEST_CASE_METHOD(test_plan_fixture,
                 "plan: a run takes over the frame of the one before it, if the shapes are the same") {
    auto p = plan({tensor(exp(x))});
    const auto array = [](index_t n) { return any_array(dtype::float32, dims{n}); };
    const std::vector<any_array> three{array(3)}, four{array(4)};
    auto first = p.acquire(three), second = p.acquire(three); // at once
    const auto *a = first->memory.get(), *b = second->memory.get();
    CHECK(a != b);
    p.release(std::move(first));
    p.release(std::move(second));
    auto again = p.acquire(three);
    CHECK(again->memory.get() == a);
    p.release(std::move(again));
    auto other = p.acquire(four);
    CHECK(other->of->fetch_type(0).shape == dims{4});
    CHECK(other->memory.get() != a);
    p.release(std::move(other));
    auto back = p.acquire(three);
    CHECK((back->memory.get() == a || back->memory.get() == b));
    p.close();
    p.release(std::move(back)); // goes with its run
    CHECK_THROWS_AS(p.acquire(three), cancelled);
    CHECK_THROWS_AS(p.bind(floats(3)), cancelled);
}

TEST_CASE_METHOD(test_plan_fixture,
                 "plan: shapes that do not go together are refused when they show, with their place") {
    placeholder<float, dyn> y("y");
    const tensor sum(x + y, "sum");
    detail::plan p({{sum}, {}, {x, y}}, {}, resources, detail::make_placement({}));
    const std::vector<tensor_type> wrong{{dtype::float32, dims{3}}, {dtype::float32, dims{4}}};
    CHECK_THROWS_AS(p.bind(wrong), invalid_argument);
    CHECK_THROWS_WITH(p.bind(wrong), contains("add") && contains("[3]") && contains("[4]") && contains("'sum'") &&
                                         contains("plan.cpp:"));
    const std::vector<tensor_type> right{{dtype::float32, dims{3}}, {dtype::float32, dims{1}}};
    CHECK(p.bind(right)->fetch_type(0).shape == dims{3});
}

TEST_CASE_METHOD(test_plan_fixture, "plan: placement is checked, and told to the log where asked for") {
    std::vector<std::string> heard;
    set_log_sink([&](log_level, std::string_view text) { heard.emplace_back(text); });
    const tensor a(exp(x), "a");
    plan({a});
    CHECK(heard.empty());
    plan({a}, {.log_device_placement = true});
    set_log_sink({});
    REQUIRE(heard.size() == 1);
    CHECK_THAT(heard[0], contains("a: (Exp)") && contains("/device:CPU:0"));
    const device_scope on("/gpu:0");
    const tensor b(exp(x), "b");
    CHECK_THROWS_AS(plan({b}), invalid_argument);
    CHECK_NOTHROW(plan({b}, {.allow_soft_placement = true}));
}

TEST_CASE("plan: keys are equal when fetches, targets and feeds are, in order") {
    node a, b;
    using key = detail::plan_key;
    const key k{{{&a, 0}}, {&b}, {{&b, 1}}};
    const key::hash hash;
    CHECK(k == key{{{&a, 0}}, {&b}, {{&b, 1}}});
    CHECK(hash(k) == hash(key{{{&a, 0}}, {&b}, {{&b, 1}}}));
    for (const auto& other : {key{{{&a, 1}}, {&b}, {{&b, 1}}}, key{{{&a, 0}}, {}, {{&b, 1}}}, key{{{&a, 0}}, {&b}, {}},
                              key{{{&b, 0}}, {&a}, {{&b, 1}}}}) {
        CHECK_FALSE(k == other);
        CHECK(hash(k) != hash(other));
    }
}
