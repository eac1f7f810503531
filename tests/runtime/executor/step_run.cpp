// SPDX-License-Identifier: BSD-3-Clause
#include <rill/runtime/executor/step_run.hpp>

#include <memory>
#include <new>
#include <utility>
#include <vector>

#include <rill/ops/catalogue.hpp>
#include <rill/resources/resource_store.hpp>
#include <rill/runtime/plan/compile_graph.hpp>

#include "catch.hpp"
#include "virtual_environment.hpp"

using namespace rill;
using namespace std::chrono_literals;

namespace test_runtime_step_run {

/// A plan, and what its steps have ended with.
struct fixture {
    graph g;
    graph_scope here{g};
    placeholder<float, dyn> x{"x"};
    virtual_environment world{1};
    std::shared_ptr<detail::resource_store> store = std::make_shared<detail::resource_store>(default_allocator());
    std::vector<std::vector<any_array>> values;
    std::vector<std::exception_ptr> problems;

    std::shared_ptr<detail::plan> plan_of(const endpoint& e, std::chrono::nanoseconds progress_timeout = forever) {
        return std::make_shared<detail::plan>(detail::plan_key{{e}, {}, {x.end()}},
                                              session_options{.progress_timeout = progress_timeout}, store,
                                              detail::make_placement({}));
    }
    void start(const std::shared_ptr<detail::plan>& p, std::vector<float> fed, step_context context = {}) {
        if (!context.environment) context.environment = &world;
        context.session = &store->session();
        detail::step_run::start(
            p, {detail::owned_copy(dtype::float32, dims{static_cast<index_t>(fed.size())}, fed.data())},
            {.context = context, .done = [this](std::exception_ptr problem, std::vector<any_array> got) {
                 problems.push_back(std::move(problem));
                 values.push_back(std::move(got));
             }});
    }
    std::string message(std::size_t i) const {
        try {
            std::rethrow_exception(problems.at(i));
        } catch (const error& e) {
            return e.what();
        }
    }
};

/// An environment that may have no memory for tasks.
class starved_environment final : public environment {
public:
    explicit starved_environment(environment& of) : of_(of) {}
    time_point now() override { return of_.now(); }
    std::size_t choose(std::size_t n) override { return of_.choose(n); }
    std::uint64_t draw() override { return of_.draw(); }
    void post(task f) override {
        if (is_starved) throw std::bad_alloc();
        of_.post(std::move(f));
    }
    timer at(time_point when, task f) override { return of_.at(when, std::move(f)); }
    std::unique_ptr<signal> make_signal() override { return of_.make_signal(); }

    bool is_starved = false;

private:
    environment& of_;
};

} // namespace test_runtime_step_run

using test_runtime_step_run_fixture = test_runtime_step_run::fixture;

TEST_CASE_METHOD(test_runtime_step_run_fixture, "step_run: a straight line runs as one task") {
    const tensor y = x + 1.f;
    start(plan_of(y.end()), {1, 2});
    CHECK(values.empty()); // it is only started
    world.run();
    CHECK(world.ran() == 1);
    REQUIRE(values.size() == 1);
    CHECK_FALSE(problems[0]);
    CHECK(values[0][0].elements<float>()[1] == 3.f);
}

TEST_CASE_METHOD(test_runtime_step_run_fixture,
                 "step_run: without memory for a task a step does not begin, and one that waits goes on all the same") {
    std::vector<host_result<float>> asked;
    const tensor y = host_call<float>([&](float, host_result<float> done) { asked.push_back(done); }, reduce_sum(x));
    const auto p = plan_of(tensor(y * 2.f).end());
    test_runtime_step_run::starved_environment env(world);
    const step_context on{.environment = &env};
    start(p, {1, 2}, on);
    world.run();
    REQUIRE(asked.size() == 1);
    env.is_starved = true;
    CHECK_THROWS_AS(start(p, {1, 2}, on), std::bad_alloc);
    CHECK(values.empty());
    asked[0](10.f);
    REQUIRE(values.size() == 1);
    CHECK_FALSE(problems[0]);
    CHECK(values[0][0].value<float>() == 20.f);
    world.run();
    CHECK(values.size() == 1);
}

TEST_CASE_METHOD(test_runtime_step_run_fixture,
                 "step_run: a step that waits holds nothing but its memory, and goes on") {
    std::vector<host_result<float>> asked;
    const tensor y = host_call<float>([&](float, host_result<float> done) { asked.push_back(done); }, reduce_sum(x));
    const auto p = plan_of(tensor(y * 2.f).end());
    for (int i = 0; i < 1000; ++i) start(p, {static_cast<float>(i), 1});
    world.run();
    CHECK(asked.size() == 1000);
    CHECK(values.empty());
    const auto ran = world.ran();
    for (auto& done : asked) done(10.f);
    world.run();
    CHECK(values.size() == 1000);
    CHECK(world.ran() == ran + 1000); // each was woken once
    for (const auto& v : values) CHECK(v[0].value<float>() == 20.f);
    CHECK(p.use_count() == 1); // they have gone
}

TEST_CASE_METHOD(test_runtime_step_run_fixture, "step_run: errors, cancellation and deadlines arrive as problems") {
    const tensor never = host_call<float>([](float, host_result<float>) {}, reduce_sum(x));
    const tensor fails = host_call<float>([](float) -> float { throw data_loss("a bad record"); }, reduce_sum(x));
    start(plan_of(fails.end()), {1});
    world.run();
    CHECK_THAT(message(0), contains("a bad record"));

    start(plan_of(never.end(), 2s), {1});
    world.run();
    CHECK_THAT(message(1), contains("nothing has come for 2 s"));

    const auto waits = plan_of(never.end());
    step_context context;
    context.deadline = world.now() + 5s;
    start(waits, {1}, context);
    const auto token = std::make_shared<cancellation>();
    step_context other;
    other.token = token.get();
    start(waits, {1}, other);
    world.sleep(4s);
    CHECK(problems.size() == 2);
    token->cancel();
    world.sleep(100ms);
    CHECK_THAT(message(2), contains("cancelled"));
    world.run();
    CHECK_THAT(message(3), contains("deadline"));
    start(waits, {1});
    world.sleep(1s);
    CHECK(problems.size() == 4);
    store->end("its container was reset");
    world.run();
    CHECK_THAT(message(4), contains("cancelled"));
    CHECK(waits.use_count() == 1);
}

TEST_CASE_METHOD(test_runtime_step_run_fixture, "step_run: loops and branches wait as well") {
    std::vector<host_result<float>> asked;
    const auto ask = [&](float, host_result<float> done) { asked.push_back(done); };
    const tensor sum = reduce_sum(x);
    const auto [k, total] =
        while_loop([](auto i, auto) { return i < 3; },
                   [&](auto i, auto t) { return std::tuple(i + 1, t + host_call<float>(ask, t)); }, 0, sum);
    start(plan_of(any_tensor(total).end()), {1, 1});
    for (int i = 0; i < 3; ++i) {
        world.run();
        REQUIRE(asked.size() == static_cast<std::size_t>(i) + 1);
        CHECK(values.empty());
        asked.back()(10.f);
    }
    world.run();
    REQUIRE(values.size() == 1);
    CHECK(values[0][0].value<float>() == 32.f);
}

TEST_CASE_METHOD(test_runtime_step_run_fixture, "step_run: a traced step waits without a thread, too") {
    std::vector<host_result<float>> asked;
    const tensor y =
        host_call<float>([&](float, host_result<float> done) { asked.push_back(done); }, reduce_sum(x), {});
    step_trace trace;
    const auto p = plan_of(y.end());
    detail::step_run::start(p, {detail::owned_copy(dtype::float32, dims{1}, std::vector{1.f}.data())},
                            {.context = {.session = &store->session(), .environment = &world},
                             .trace = &trace,
                             .done = [this](std::exception_ptr problem, std::vector<any_array> got) {
                                 problems.push_back(std::move(problem));
                                 values.push_back(std::move(got));
                             }});
    world.run();
    world.sleep(5ms);
    asked.at(0)(1.f);
    world.run();
    CHECK(values.size() == 1);
    bool waited = false;
    for (const auto& e : trace.entries) waited = waited || e.what == step_trace::kind::waited;
    CHECK(waited);
}
