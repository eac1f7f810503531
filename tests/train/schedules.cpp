// SPDX-License-Identifier: BSD-3-Clause
#include <rill/train/schedules.hpp>

#include <rill/ops/state/variable.hpp>
#include <rill/session/session.hpp>

#include "catch.hpp"
#include "train/vectors.hpp"

using namespace rill;

namespace test_schedules {

/// make(rate, step) gives the rates of vectors::at; in float, and from a rate that is a tensor, too.
template <class Step, class Make> void check(const Make& make, const std::vector<double>& wanted) {
    const graph g;
    const graph_scope here(g);
    const variable<Step> step("step", 0, {.trainable = false});
    const tensor<double> given(constant(0.5));
    const tensor<double> exact = make(0.5, step), from_tensor = make(given, step);
    const tensor<float> rough = make(0.5f, step);
    const session s(g);
    REQUIRE(wanted.size() == vectors::at.size());
    for (std::size_t i = 0; i < wanted.size(); ++i) {
        const auto at = feed(step, static_cast<Step>(vectors::at[i]));
        INFO("step " << vectors::at[i]);
        CHECK(s.run(exact, at) == Approx(wanted[i]).epsilon(1e-12).margin(1e-15));
        CHECK(s.run(from_tensor, at) == Approx(wanted[i]).epsilon(1e-12).margin(1e-15));
        CHECK(s.run(rough, at) == Approx(wanted[i]).epsilon(1e-5).margin(1e-6));
    }
}
template <class Make> void check(const Make& make, const std::vector<double>& wanted) {
    check<std::int64_t>(make, wanted);
    check<std::int32_t>(make, wanted);
}

} // namespace test_schedules

TEST_CASE("schedules: exponential_decay, natural_exp_decay, inverse_time_decay") {
    using test_schedules::check;
    const auto of = [](auto f, const decay_options& o) {
        return [=](const auto& rate, const auto& step) { return f(rate, step, o); };
    };
    constexpr auto exponential = [](const auto& rate, const auto& step, const decay_options& o) {
        return exponential_decay(rate, step, 10, 0.8, o);
    };
    constexpr auto natural = [](const auto& rate, const auto& step, const decay_options& o) {
        return natural_exp_decay(rate, step, 10, 0.3, o);
    };
    constexpr auto inverse = [](const auto& rate, const auto& step, const decay_options& o) {
        return inverse_time_decay(rate, step, 10, 0.3, o);
    };
    check(of(exponential, {}), vectors::exponential);
    check(of(exponential, {.staircase = true}), vectors::exponential_staircase);
    check(of(natural, {}), vectors::natural_exp);
    check(of(natural, {.staircase = true}), vectors::natural_exp_staircase);
    check(of(inverse, {}), vectors::inverse_time);
    check(of(inverse, {.staircase = true}), vectors::inverse_time_staircase);
}

TEST_CASE("schedules: polynomial_decay") {
    const auto with = [](const polynomial_decay_options& o) {
        return [=](const auto& rate, const auto& step) { return polynomial_decay(rate, step, 10, o); };
    };
    test_schedules::check(with({}), vectors::polynomial);
    test_schedules::check(with({.end_learning_rate = 0.1, .power = 0.5}), vectors::polynomial_root);
    test_schedules::check(with({.end_learning_rate = 0.01, .power = 2, .cycle = true}), vectors::polynomial_cycle);
}

TEST_CASE("schedules: cosine_decay, and with restarts") {
    const auto once = [](const cosine_decay_options& o) {
        return [=](const auto& rate, const auto& step) { return cosine_decay(rate, step, 20, o); };
    };
    test_schedules::check(once({}), vectors::cosine);
    test_schedules::check(once({.alpha = 0.1}), vectors::cosine_alpha);
    const auto again = [](const cosine_decay_restarts_options& o) {
        return [=](const auto& rate, const auto& step) { return cosine_decay_restarts(rate, step, 10, o); };
    };
    test_schedules::check(again({}), vectors::restarts);
    test_schedules::check(again({.t_mul = 1, .m_mul = 0.5}), vectors::restarts_even);
    test_schedules::check(again({.m_mul = 0.8, .alpha = 0.1}), vectors::restarts_alpha);
}

TEST_CASE("schedules: with restarts, every period begins at its step") {
    const graph g;
    const graph_scope here(g);
    const variable<int> step("step", 0, {.trainable = false});
    const auto twice = cosine_decay_restarts(1.f, step, 10), thrice = cosine_decay_restarts(1.f, step, 7, {.t_mul = 3});
    const session s(g);
    for (int begin = 0, length = 10, n = 0; n < 12; begin += length, length *= 2, ++n)
        CHECK(s.run(twice, feed(step, begin)) == Approx(1).epsilon(1e-4));
    for (int begin = 0, length = 7, n = 0; n < 9; begin += length, length *= 3, ++n)
        CHECK(s.run(thrice, feed(step, begin)) == Approx(1).epsilon(1e-4));
}

TEST_CASE("schedules: piecewise_constant") {
    const graph g;
    const graph_scope here(g);
    const variable<int> step("step", 0, {.trainable = false});
    const tensor<double> rate = piecewise_constant(step, {10, 30}, {0.5, 0.25, 0.125});
    const tensor<float> listed =
        piecewise_constant(step, std::vector<std::int64_t>{10, 30}, std::vector<float>{0.5f, 0.25f, 0.125f});
    const tensor<double> one = piecewise_constant(step, {}, {0.5});
    const session s(g);
    for (std::size_t i = 0; i < vectors::at.size(); ++i) {
        CHECK(s.run(rate, feed(step, vectors::at[i])) == vectors::piecewise[i]);
        CHECK(s.run(listed, feed(step, vectors::at[i])) == static_cast<float>(vectors::piecewise[i]));
        CHECK(s.run(one, feed(step, vectors::at[i])) == 0.5);
    }
    CHECK_THROWS_WITH(piecewise_constant(step, {10, 30}, {0.5, 0.25}), contains("2 boundaries take 3 values, not 2"));
    CHECK_THROWS_WITH(piecewise_constant(step, {30, 10}, {0.5, 0.25, 0.1}), contains("must grow"));
}

TEST_CASE("schedules: below their own names, and what they refuse") {
    const graph g;
    const graph_scope here(g);
    const variable<int> step("step", 0, {.trainable = false});
    CHECK(exponential_decay(0.1f, step, 10, 0.5).name().starts_with("exponential_decay/"));
    CHECK_THROWS_WITH(exponential_decay(0.1f, step, 0, 0.5), contains("exponential_decay: the steps of the decay"));
    CHECK_THROWS_WITH(cosine_decay(0.1f, step, -1), contains("cosine_decay: the steps of the decay"));
    CHECK_THROWS_WITH(cosine_decay_restarts(0.1f, step, 10, {.t_mul = 0.5}), contains("t_mul must be 1 at least"));
}
