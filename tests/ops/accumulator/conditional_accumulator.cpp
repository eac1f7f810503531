// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/accumulator/conditional_accumulator.hpp>

#include <chrono>
#include <thread>

#include <rill/ops/catalogue.hpp>
#include <rill/session/session.hpp>

#include "catch.hpp"

using namespace rill;

namespace test_ops_sync_conditional_accumulator {

TEST_CASE("conditional_accumulator: the mean of all that came, not only of as many as were asked for") {
    const graph_scope here{graph()};
    const conditional_accumulator<float, 2> sum("sum");
    placeholder<float, 2> g("g");
    placeholder<std::int64_t> step("step");
    const operation put = sum.apply_grad(g, step);
    const session s;
    s.run(put, feed(g, {1.f, 2.f}), feed(step, 0));
    s.run(put, feed(g, {3.f, 4.f}), feed(step, 0));
    s.run(put, feed(g, {5.f, 12.f}), feed(step, 7));
    CHECK(s.run(sum.num_accumulated()) == 3);
    CHECK((s.run(sum.take_grad(2)) == xt::xtensor<float, 1>{3.f, 6.f}));
    CHECK(s.run(sum.num_accumulated()) == 0);
    CHECK(sum.name() == "sum");
}

TEST_CASE("conditional_accumulator: a sum, of any numbers") {
    const graph_scope here{graph()};
    const conditional_accumulator<int> sum("sum", {.reduction_type = "SUM"});
    const conditional_accumulator<half, 2> mean("mean");
    const session s;
    for (int k = 1; k <= 3; ++k) s.run(sum.apply_grad(k, 0));
    CHECK(s.run(sum.take_grad()) == 6);
    s.run(mean.apply_grad(cast<half>(constant({1.f, 2.f})), 0));
    s.run(mean.apply_grad(cast<half>(constant({3.f, 2.f})), 0));
    CHECK((s.run(cast<float>(mean.take_grad(2))) == xt::xtensor<float, 1>{2.f, 2.f}));
}

TEST_CASE("conditional_accumulator: stale gradients are dropped and counted, each take is a step") {
    const graph_scope here{graph()};
    const conditional_accumulator<float> sum("sum");
    placeholder<int> step("step");
    const operation put = sum.apply_grad(1.f, step);
    const session s;
    s.run(put, feed(step, 0));
    CHECK(s.run(sum.take_grad(1)) == 1.f);
    s.run(put, feed(step, 0)); // its step is 1 now
    CHECK(s.run(sum.num_accumulated()) == 0);
    s.run(sum.set_global_step(5));
    s.run(put, feed(step, 4));
    s.run(put, feed(step, 5));
    CHECK(s.run(std::tuple(sum.num_accumulated(), sum.num_dropped())) == std::tuple(std::int64_t(1), std::int64_t(2)));
    s.run(sum.set_global_step(0)); // a smaller one is taken as well
    s.run(put, feed(step, 0));
    CHECK(s.run(sum.num_accumulated()) == 2);
}

TEST_CASE("conditional_accumulator: takes wait in line, and one that gives up leaves it as it was") {
    const graph_scope here{graph()};
    const conditional_accumulator<double> sum("sum", {.shared_name = "accumulator_test_line"});
    const auto two = sum.take_grad(2), one = sum.take_grad(1);
    const operation put = sum.apply_grad(4., 100);
    const session s, other;
    CHECK_THROWS_AS(s.run(two, {.timeout = std::chrono::milliseconds(20)}), deadline_exceeded);
    const cancellation_token token;
    std::thread ends([&] { CHECK_THROWS_AS(s.run(two, {.cancel = token}), cancelled); });
    token.cancel();
    ends.join();
    double got = 0;
    std::thread takes([&] { got = s.run(two); });
    other.run(put);
    other.run(put);
    takes.join();
    CHECK(got == 4.);
    other.run(put);
    CHECK(other.run(one) == 4.);
    // in one run: the take waits for the gradient
    CHECK(std::get<0>(s.run(std::tuple(one, put))) == 4.);
    session::reset();
}

TEST_CASE("conditional_accumulator: what can't be is refused") {
    const graph_scope here{graph()};
    CHECK_THROWS_WITH((conditional_accumulator<float>("a", {.reduction_type = "MAX"})), contains("MAX"));
    const conditional_accumulator<float, 2> sum("sum");
    placeholder<int> n("n");
    placeholder<float, dyn> g("g");
    const session s;
    CHECK_THROWS_AS(s.run(sum.take_grad(n), feed(n, 0)), invalid_argument);
    CHECK_THROWS_WITH(s.run(sum.take_grad(n), feed(n, -3)), contains("-3"));
    CHECK_THROWS_WITH(s.run(sum.apply_grad(g, 0), feed(g, {1.f, 2.f, 3.f})), contains("[3]"));
    CHECK_THROWS_AS(sum.apply_grad(any_tensor(constant({1, 2})), 0), invalid_argument);
    CHECK_THROWS_AS(sum.apply_grad(g, constant(1.f)), invalid_argument);
    const conditional_accumulator<float, 2> a("a", {.shared_name = "accumulator_test_types"});
    const conditional_accumulator<float, 3> b("b", {.shared_name = "accumulator_test_types"});
    CHECK(s.run(a.num_dropped()) == 0);
    CHECK_THROWS_WITH(s.run(b.num_dropped()), contains("[2]") && contains("[3]"));
    session::reset();
}

} // namespace test_ops_sync_conditional_accumulator
