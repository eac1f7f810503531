// SPDX-License-Identifier: BSD-3-Clause
#include <rill/session/measured_run.hpp>

#include <chrono>
#include <tuple>

#include <rill/ops/catalogue.hpp>
#include <rill/session/session.hpp>

#include "catch.hpp"
#include "virtual_environment.hpp"

using namespace rill;

namespace test_measured_run {

/// Two host functions that take a millisecond of virtual time each. Nothing tells before the first run that they are slow.
struct two_slow_functions {
    graph g;
    graph_scope here{g};
    virtual_environment world{1};
    placeholder<float> x{"x"};
    tensor<float> base{x * 1.f};
    tensor<float> a = slow(1.f), b = slow(2.f);

    tensor<float> slow(float by) {
        return host_call<float>(
            [this, by](float v) {
                world.sleep(std::chrono::milliseconds(1));
                return v + by;
            },
            base);
    }
    session_options options(bool learn) {
        return {.inter_op_threads = 0,
                .intra_op_threads = 0,
                .device_count = {{"cpu", 2}},
                .placer = placers::by_cost,
                .learn = learn,
                .environment = &world};
    }
    /// Returns the number of devices that a newly compiled plan has the functions on.
    std::size_t devices(const session& s) const { return s.partition({a, b}, {x}).size(); }
};

using fixture = two_slow_functions;

TEST_CASE_METHOD(fixture, "measured run: one step in 64 is measured, and a newly compiled plan moves a slow node") {
    const session s(g, options(true));
    const auto step = s.make_callable(std::tuple(a, b), x);
    for (int i = 0; i < 63; ++i) step(1.f);
    CHECK(devices(s) == 1);
    step(1.f);
    CHECK(devices(s) == 2);
    CHECK(step(1.f) == std::tuple(2.f, 3.f)); // the plan that was compiled before
    const tensor<float> sum(a + b);
    CHECK(s.run(sum, feed(x, 1.f)) == 5.f);
    CHECK(devices(s) == 2);
}

TEST_CASE_METHOD(fixture, "measured run: a traced step is measured, also one that is started") {
    for (const bool starts : {false, true}) {
        const session s(g, options(true));
        step_trace trace;
        const auto step = s.make_callable(std::tuple(a, b), x).with({.trace = &trace});
        CHECK(devices(s) == 1);
        if (starts) {
            int ends = 0;
            step.start(1.f, [&](const std::exception_ptr& problem, const auto& values) {
                CHECK(!problem);
                CHECK(std::get<1>(values) == 3.f);
                ++ends;
            });
            world.run();
            CHECK(ends == 1);
        } else {
            step(1.f);
        }
        CHECK(trace.position(a.node()->name) >= 0);
        CHECK(devices(s) == 2);
    }
}

TEST_CASE_METHOD(fixture, "measured run: a session that does not learn keeps to the estimates") {
    const session s(g, options(false));
    const auto step = s.make_callable(std::tuple(a, b), x);
    for (int i = 0; i < 128; ++i) step(1.f);
    step_trace trace;
    s.run(std::tuple(a, b), feed(x, 1.f), run_options{.trace = &trace});
    CHECK(devices(s) == 1);
}

TEST_CASE_METHOD(fixture, "measured run: what keeps state stays where it is") {
    const variable<float> v("v", 1.f);
    const tensor<float> written(v.assign_add(a));
    const session s(g, options(true));
    s.run(global_variables_initializer());
    step_trace trace;
    s.run(std::tuple(written, b), feed(x, 1.f), run_options{.trace = &trace});
    const auto parts = s.partition({written, b}, {x});
    REQUIRE(parts.size() == 2);
    std::size_t found = 0;
    for (const auto& p : parts) {
        const auto& state = p.graph.state();
        if (!state.find("v")) continue;
        ++found;
        CHECK(state.find(written.node()->name));
        CHECK_THAT(p.device, contains("cpu:0"));
    }
    CHECK(found == 1);
    CHECK(s.run(written, feed(x, 1.f)) == 5.f);
}

TEST_CASE_METHOD(fixture, "measured run: the parts of a cut run are measured as well") {
    auto how = options(true);
    how.partition_devices = true;
    const session s(g, how);
    const device_scope on("/cpu:1");
    const tensor<float> c(x * 3.f);
    step_trace trace;
    CHECK(s.run(std::tuple(a, b, c), feed(x, 1.f), run_options{.trace = &trace}) == std::tuple(2.f, 3.f, 3.f));
    CHECK(devices(s) == 2);
}

} // namespace test_measured_run
