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
        CHECK(state[0].v < 0); // against the gradient
        if constexpr (requires { Rule::by_rows; }) {
            CHECK(names.insert(update_rows_op<Rule>::name).second);
            auto still = std::array<lane<double>, 1 + op::slots>{};
            Rule::step(still, lane<double>(0), constants);
            CHECK(still[0].v == 0); // rows that the gradient does not touch stay as they are
        }
    });
    CHECK(count >= 2);
    CHECK(names.contains("ApplyAdam"));
    CHECK(names.contains("ApplyGradientDescentRows"));
}
