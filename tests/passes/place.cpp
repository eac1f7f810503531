// SPDX-License-Identifier: BSD-3-Clause
#include <rill/passes/place.hpp>

#include <rill/ops/array/placeholder.hpp>
#include <rill/ops/math/add.hpp>
#include <rill/ops/math/mul.hpp>
#include <rill/ops/state/variable.hpp>
#include <rill/passes/prune.hpp>

#include "catch.hpp"

using namespace rill;

namespace test_place {

struct fixture {
    graph g;
    graph_scope here{g};
    placeholder<float> x{"x"};

    /// Places a node made for a device; returns what is reported.
    std::vector<std::string> placed(const std::string& device, bool soft) {
        const device_scope on(device);
        return placed(tensor<float>(x + 1.f, "node"), soft);
    }
    std::vector<std::string> placed(const tensor<float>& t, bool soft) {
        const std::vector<endpoint> fetches{t}, feeds{x};
        std::vector<std::string> heard;
        place(prune(fetches, {}, feeds), soft,
              [&](const node& n, const std::string& where) { heard.push_back(n.name + " " + where); });
        return heard;
    }
};

} // namespace test_place

using test_place_fixture = test_place::fixture;

TEST_CASE_METHOD(test_place_fixture, "place: whatever names this process's CPU, each node reported once") {
    const std::string cpu = "/job:localhost/replica:0/task:0/device:cpu:0";
    CHECK(placed("", false) == std::vector<std::string>{"node " + cpu});
    for (const auto* device : {"/cpu:0", "/cpu", "/job:localhost", "/job:*/replica:0/task:0/device:CPU:0"}) {
        INFO(device);
        CHECK(placed(device, false).size() == 1);
    }
    const tensor a(x + 1.f, "a"), b(a * a, "b");
    CHECK(placed(b, false) == std::vector<std::string>{"a " + cpu, "b " + cpu});
    const std::vector<endpoint> fetches{b}, feeds{x};
    CHECK_NOTHROW(place(prune(fetches, {}, feeds), false, {})); // nobody need listen
}

TEST_CASE_METHOD(test_place_fixture,
                 "place: a device that is not there is refused, naming node and device, or softened") {
    for (const auto* device : {"/gpu:0", "/cpu:1", "/device:tpu:0"}) {
        INFO(device);
        CHECK_THROWS_AS(placed(device, false), invalid_argument);
        CHECK(placed(device, true).size() == 1);
    }
    CHECK_THROWS_WITH(placed("/gpu:3", false), contains("'node_") && contains("(Add,") && contains("/device:gpu:3") &&
                                                   contains("place.cpp:") && contains("allow_soft_placement"));
}

TEST_CASE_METHOD(test_place_fixture, "place: another process is refused, softly or not") {
    for (const auto* device : {"/job:ps", "/task:1", "/replica:1/cpu:0"}) {
        INFO(device);
        CHECK_THROWS_AS(placed(device, false), invalid_argument);
        CHECK_THROWS_AS(placed(device, true), invalid_argument);
    }
}

TEST_CASE_METHOD(test_place_fixture,
                 "place: a colocated node asks for what the other asks, through any number of them") {
    const auto on = [&](const std::string& device) {
        const device_scope there(device);
        return tensor<float>(x * 2.f);
    };
    const auto gpu = on("/gpu:0"), cpu = on("/cpu:0");
    const auto beside = [&](const tensor<float>& other) {
        const colocate_with there(other);
        return tensor<float>(x * 3.f, "follower");
    };
    CHECK_THROWS_WITH(placed(beside(gpu), false), contains("'follower") && contains("gpu:0"));
    CHECK_THROWS_WITH(placed(beside(beside(beside(gpu))), false), contains("'follower") && contains("gpu:0"));
    CHECK(placed(beside(beside(cpu)), false).size() == 1);
    // its own device does not count: it is on the other's
    const colocate_with there(cpu);
    CHECK(placed(on("/gpu:0"), false).size() == 1);
}

namespace test_place {

struct joint_write_op {
    static constexpr auto name = "TestPlaceJointWrite";
    static constexpr auto no_gradient = "a test's";
    input_list writes() const { return {1, 0}; }
    std::vector<tensor_type> outputs(std::span<const tensor_type>) const { return {}; }
};

inline const device_type shelf{"shelf", false};

} // namespace test_place

TEST_CASE_METHOD(test_place_fixture, "place: what asks for no device goes where it is told, text to the CPU") {
    using namespace test_place;
    const tensor a(x + 1.f, "a");
    const tensor text(constant("text"));
    const auto where = [&](const endpoint& e) {
        const std::vector<endpoint> fetches{e}, feeds{x};
        return place(prune(fetches, {}, feeds), false, {}, shelf).items.back().device;
    };
    CHECK(where(a) == &shelf);
    CHECK(where(text) == &cpu_device());
}

TEST_CASE_METHOD(test_place_fixture, "place: a write goes where its variables are, which is one place") {
    using namespace test_place;
    variable<float> u("u", 1.f), v("v", 2.f);
    const node* both = detail::add_node(g, make_op(joint_write_op{}), {u, v});
    const auto placed = [&] {
        auto sub = prune({}, std::span(&both, 1), {});
        REQUIRE(sub.items.size() == 3);
        return place(std::move(sub), false, {}, shelf);
    };
    CHECK(placed().items.back().device == &shelf);
    variable<float> w = [] {
        const device_scope there("/cpu:0");
        return variable<float>("w", 3.f);
    }();
    both = detail::add_node(g, make_op(joint_write_op{}), {u, w});
    CHECK_THROWS_WITH(placed(), contains("several devices") && contains("cpu:0") && contains("shelf:0"));
}
