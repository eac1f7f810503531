// SPDX-License-Identifier: BSD-3-Clause
#include <rill/train/catalogue.hpp>

#include <set>

#include "catch.hpp"

using namespace rill;

TEST_CASE("catalogue of optimizers: each rule makes an op of its own name that the compiled target holds") {
    std::set<std::string> names;
    std::size_t count = 0;
    optimizer_rules::each([&]<class Rule>(std::type_identity<Rule>) {
        using op = update_op<Rule>;
        INFO(Rule::name);
        CHECK(names.insert(op::name).second);
        ++count;
        STATIC_REQUIRE(detail::is_compiled<op, float>);
        STATIC_REQUIRE(detail::is_compiled<op, double>);
        // its step runs on any kind of value: single numbers here
        std::array<lane<double>, 1 + op::slots> state{};
        std::array<double, static_cast<std::size_t>(Rule::numbers)> numbers;
        numbers.fill(0.5);
        const auto plain = Rule().constants(numbers);
        std::array<lane<double>, std::tuple_size_v<std::decay_t<decltype(plain)>>> constants;
        for (std::size_t i = 0; i < plain.size(); ++i) constants[i] = lane<double>(plain[i]);
        Rule::step(state, lane<double>(1), constants);
        // against the gradient; a mean goes towards the value
        CHECK((std::is_same_v<Rule, moving_average_rule> ? state[0].v > 0 : state[0].v < 0));
        if constexpr (requires { Rule::by_rows; }) {
            CHECK(names.insert(update_rows_op<Rule>::name).second);
            STATIC_REQUIRE(detail::is_compiled<update_rows_op<Rule>, float>);
        }
        if constexpr (requires { Rule::adds_up; }) { // two steps are one by the sum of their gradients
            std::array<lane<double>, 1 + op::slots> twice{}, once{};
            Rule::step(twice, lane<double>(1), constants);
            Rule::step(twice, lane<double>(2), constants);
            Rule::step(once, lane<double>(3), constants);
            for (std::size_t i = 0; i < once.size(); ++i) CHECK(twice[i].v == Approx(once[i].v));
        }
    });
    CHECK(count >= 10);
    CHECK(names.contains("ApplyAdam"));
    CHECK(names.contains("ApplyGradientDescentRows"));
}
