// SPDX-License-Identifier: BSD-3-Clause
#include <rill/session/prepared_run.hpp>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <future>
#include <iterator>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include <rill/core/platform.hpp>
#include <rill/ops/catalogue.hpp>
#include <rill/session/session.hpp>

#include "catch.hpp"
#include "virtual_environment.hpp"

using namespace rill;
using namespace std::chrono_literals;

namespace test_session_prepared_run {

/// Starts a callable and waits for its values; throws its problem.
template <class Step, class... X> auto values_of(const Step& step, const X&... fed) {
    using values = decltype(step(fed...));
    std::promise<values> came;
    step.start(fed..., [&](std::exception_ptr problem, auto got) {
        problem ? came.set_exception(problem) : came.set_value(std::move(got));
    });
    return came.get_future().get();
}

TEST_CASE("callable::start: the values of a call, by callback") {
    const graph_scope here{graph()};
    placeholder<float, dyn> x("x");
    placeholder<int> n("n");
    const tensor y = x * 2.f;
    const auto done = group(y);
    const session s;
    const auto step = s.make_callable(std::tuple(y, done, n + 1, std::vector<any_tensor>{n, x}), x, n);
    const auto [doubled, more, all] = values_of(step, std::vector<float>{1, 2}, 4);
    CHECK(doubled == xt::xtensor<float, 1>{2.f, 4.f});
    CHECK(more == 5);
    CHECK(all[0].value<int>() == 4);
    const auto nothing = s.make_callable(done, x);
    CHECK(values_of(nothing, std::vector<float>{1}) == std::tuple());
}

TEST_CASE("callable::start: what is lent is copied, for the step outlives the call") {
    const graph_scope here{graph()};
    virtual_environment world(1);
    placeholder<float, dyn> x("x");
    const session s({.environment = &world});
    const auto step = s.make_callable(reduce_sum(x), x);
    std::vector<float> sums;
    {
        std::vector<float> lent{1, 2, 3};
        step.start(lent, [&](std::exception_ptr, auto values) { sums.push_back(std::get<0>(values)); });
        step.start(xt::xtensor<float, 1>{4.f, 5.f},
                   [&](std::exception_ptr, auto values) { sums.push_back(std::get<0>(values)); });
        lent.assign(3, -1.f);
    }
    world.run();
    std::sort(sums.begin(), sums.end());
    CHECK(sums == std::vector{6.f, 9.f});
}

TEST_CASE("callable::start: problems reach the callback, wrong values the caller") {
    const graph_scope here{graph()};
    placeholder<float, 2> x("x");
    const tensor checked = check_numerics(x, "the input");
    auto s = std::make_unique<session>();
    const auto step = s->make_callable(checked, x);
    const float nan = std::numeric_limits<float>::quiet_NaN();
    CHECK_THROWS_WITH(values_of(step, std::vector<float>{nan, 1.f}), contains("the input"));
    CHECK_THROWS_AS(values_of(step, std::vector<float>{1.f, 2.f, 3.f}), invalid_argument); // x has two elements
    CHECK_THROWS_AS(values_of(step.with({.timeout = 0s}), std::vector<float>{1.f, 2.f}), deadline_exceeded);
    const cancellation_token token;
    token.cancel();
    CHECK_THROWS_AS(values_of(step.with({.cancel = token}), std::vector<float>{1.f, 2.f}), cancelled);
    s.reset();
    CHECK_THROWS_AS(step.start(std::vector<float>{1.f, 2.f}, [](std::exception_ptr, const auto&) {}), cancelled);
}

TEST_CASE("callable::start: a thousand steps that wait hold no thread, and end with their session") {
    const graph_scope here{graph()};
    const fifo_queue<tensor<int>> q({.capacity = 2000});
    placeholder<int> n("n");
    const auto put = q.enqueue(n);
    const auto got = q.dequeue();
    std::atomic<int> sum{0}, ended{0};
    std::promise<void> half, all;
    {
        const session s;
        const auto take = s.make_callable(got);
        const auto give = s.make_callable(put, n);
        for (int i = 0; i < 1000; ++i)
            take.start([&](std::exception_ptr problem, auto values) {
                if (!problem) sum += std::get<0>(values);
                if (++ended == 500) half.set_value();
                if (ended == 1000) all.set_value();
            });
        for (int i = 0; i < 500; ++i) give(i);
        half.get_future().wait();
        CHECK(sum == 499 * 500 / 2);
    }
    all.get_future().wait(); // the others were cancelled
    CHECK(sum == 499 * 500 / 2);
}

#if defined(__linux__)
TEST_CASE("callable::start: a thousand dequeues and a thousand take_grads that wait hold no thread of the process") {
    const auto threads = [] {
        const std::filesystem::directory_iterator all("/proc/self/task");
        return std::distance(begin(all), end(all));
    };
    const graph_scope here{graph()};
    const fifo_queue<tensor<int>> q({.capacity = 2000});
    const conditional_accumulator<float> sum("sum");
    placeholder<int> n("n");
    const auto put = q.enqueue(n);
    const operation apply = sum.apply_grad(1.f, std::int64_t(1) << 40); // never stale
    const session s({.inter_op_threads = 0, .intra_op_threads = 0});
    const auto take = s.make_callable(q.dequeue());
    const auto take_grad = s.make_callable(sum.take_grad(1));
    const auto give = s.make_callable(put, n);
    constexpr int many = 1000;
    std::atomic<int> dequeued{0}, taken{0}, failed{0};
    std::promise<void> all_dequeued, one;
    give.start(-1, [&](std::exception_ptr, const auto&) { one.set_value(); }); // starts the environment's threads
    one.get_future().wait();
    s.run(q.dequeue());
    const auto before = threads();
    for (int i = 0; i < many; ++i) {
        take.start([&](std::exception_ptr problem, const auto&) {
            if (problem) ++failed;
            if (++dequeued == many) all_dequeued.set_value();
        });
        take_grad.start([&](std::exception_ptr problem, const auto&) {
            if (problem) ++failed;
            ++taken;
        });
    }
    auto most = threads();
    for (int i = 0; i < many; ++i) {
        give(i);
        if (i % 100 == 0) most = std::max(most, threads());
    }
    while (taken < many) s.run(apply); // a take may get several gradients, those that came before it
    most = std::max(most, threads());
    all_dequeued.get_future().wait();
    CHECK(failed == 0);
    // the environment has one thread less than there are processors, at least one, and a thread for its timers; both may begin late
    CHECK(most <= before + detail::usable_processors() + 1);
}
#endif

TEST_CASE("callable::start: a callback may start the next step, and block") {
    const graph_scope here{graph()};
    const variable<int> v("v", 0);
    const auto up = v.assign_add(1);
    const session s;
    s.run(v.initializer());
    const auto step = s.make_callable(up);
    std::promise<int> last;
    std::function<void()> again = [&] {
        step.start([&](std::exception_ptr, auto values) {
            CHECK(s.run(v) >= std::get<0>(values)); // blocks a thread of the environment
            std::get<0>(values) < 100 ? again() : last.set_value(std::get<0>(values));
        });
    };
    again();
    CHECK(last.get_future().get() == 100);
}

} // namespace test_session_prepared_run
