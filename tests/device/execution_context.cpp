// SPDX-License-Identifier: BSD-3-Clause
#include <rill/device/execution_context.hpp>

#include <string>
#include <thread>
#include <vector>

#include <rill/core/error.hpp>
#include <rill/device/numbers.hpp>

#include "catch.hpp"

using namespace rill;

namespace test_device_execution_context {

struct named_site final : error_site {
    explicit named_site(std::string n) : name(std::move(n)) {}
    error describe(const refused_element& found) const override {
        return out_of_range(name + " " + std::to_string(found.at));
    }
    std::string name;
};

TEST_CASE("execution_context: without a record an error is thrown at once") {
    const named_site site("first");
    const execution_context on;
    CHECK_FALSE(on.has_failed());
    CHECK_THROWS_AS(on.refuse(site, {3, 0}), out_of_range);
    CHECK_THROWS_WITH(on.refuse(site, {3, 0}), "first 3");
    CHECK_FALSE(on.has_failed());
}

TEST_CASE("execution_context: a record keeps the error of the first step, whichever reports first") {
    const named_site a("a"), b("b"), c("c");
    error_record record;
    CHECK_FALSE(record.is_set());
    const auto step = [&](std::int32_t number) { return execution_context{.errors = &record, .step = number}; };
    step(5).refuse(b, {7, 1});
    CHECK(record.is_set());
    CHECK(record.where == &b);
    step(9).refuse(c, {1, 1});
    CHECK(record.where == &b);
    step(5).refuse(c, {2, 1}); // the first check of a step counts
    CHECK(record.where == &b);
    CHECK_FALSE(step(4).has_failed()); // an earlier step goes on: it may find an earlier error
    CHECK(step(5).has_failed());
    CHECK(step(6).has_failed());
    step(2).refuse(a, {4, 1});
    CHECK(record.step == 2);
    CHECK(record.where == &a);
    CHECK(record.found.at == 4);
    CHECK(record.where->describe(record.found).what() == std::string("a 4"));
}

TEST_CASE("execution_context: steps that report at once") {
    const named_site site("site");
    error_record record;
    std::vector<std::thread> all;
    for (std::int32_t t = 8; t-- > 0;)
        all.emplace_back([&, t] {
            for (std::int32_t k = 100; k-- > 0;)
                execution_context{.errors = &record, .step = 100 * t + k}.refuse(site, {t, k});
        });
    for (auto& t : all) t.join();
    CHECK(record.step == 0);
    CHECK(record.found.at == 0);
    CHECK(record.found.value == 0);
}

TEST_CASE("execution_context: values of refused elements, and other scratch memory") {
    CHECK(refused_element().at == -1);
    CHECK(refused_element::of(2, -7).value == -7);
    CHECK(refused_element::of(2, 1.5f).real() == 1.5);
    int scratch = 0;
    const execution_context on{.step = 3};
    CHECK(on.with_scratch(&scratch).scratch == &scratch);
    CHECK(on.with_scratch(&scratch).step == 3);
    CHECK(on.scratch == nullptr);
}

TEST_CASE("execution_context: an integer division by zero is refused once") {
    detail::sticky_errors() = 0;
    CHECK_NOTHROW(detail::refuse_zero_division({}));
    detail::sticky_errors() |= detail::integer_division_by_zero;
    CHECK_THROWS_WITH(detail::refuse_zero_division({}), "integer division by zero");
    CHECK_NOTHROW(detail::refuse_zero_division({}));
    error_record record;
    detail::sticky_errors() |= detail::integer_division_by_zero;
    detail::refuse_zero_division({.errors = &record, .step = 1});
    CHECK(record.step == 1);
    CHECK(record.where->describe(record.found).what() == std::string("integer division by zero"));
    CHECK(detail::sticky_errors() == 0);
}

} // namespace test_device_execution_context
