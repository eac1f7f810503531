// SPDX-License-Identifier: BSD-3-Clause
#include <rill/resources/collective_state.hpp>

#include "catch.hpp"
#include "ops/sync/pretend_wait.hpp"

using namespace rill;

namespace test_resources_collective_state {

using detail::collective_state;

any_array numbers(std::vector<std::int32_t> all) {
    any_array a(dtype::int32, dims{static_cast<index_t>(all.size())});
    std::copy(all.begin(), all.end(), static_cast<std::int32_t*>(a.mutable_data()));
    return a;
}

/// A rank of a test. The result is its values one after the other, so that their order shows.
struct rank {
    std::shared_ptr<collective_state> of;
    index_t number;
    sync_test::pretend_wait wait = {};
    any_array out = {};

    bool give(std::vector<std::int32_t> value, bool gathers = false) {
        wait = {};
        out = {};
        return of->exchange(
            number, numbers(std::move(value)), gathers,
            [](std::span<const any_array> values) {
                std::vector<std::int32_t> all;
                for (const auto& v : values)
                    for (const auto x : v.elements<std::int32_t>()) all.push_back(x);
                return numbers(std::move(all));
            },
            wait, &out);
    }
    std::vector<std::int32_t> result() const {
        const auto all = (wait.came() ? wait.outputs()[0] : out).elements<std::int32_t>();
        return {all.begin(), all.end()};
    }
};

TEST_CASE("collective_state: all ranks get the values in order of rank, exchange after exchange") {
    const auto of = std::make_shared<collective_state>("c", 3);
    rank a{of, 0}, b{of, 1}, c{of, 2};
    for (int i = 0; i < 3; ++i) {
        CHECK_FALSE(c.give({3 + i}));
        CHECK_FALSE(a.give({1 + i}));
        CHECK_FALSE(a.wait.came());
        CHECK(b.give({2 + i}));
        for (const auto* r : {&a, &b, &c}) CHECK(r->result() == std::vector{1 + i, 2 + i, 3 + i});
    }
}

TEST_CASE("collective_state: a rank that gives up has given nothing, and a later run of a rank takes its place") {
    const auto of = std::make_shared<collective_state>("c", 2);
    rank a{of, 0}, again{of, 0}, b{of, 1};
    CHECK_FALSE(a.give({1}));
    CHECK(a.wait.give_up());
    CHECK_FALSE(b.give({2}));
    CHECK_FALSE(b.wait.came());
    CHECK(a.give({3}));
    CHECK(b.result() == std::vector{3, 2});

    CHECK_FALSE(a.give({4}));
    CHECK_FALSE(again.give({5}));
    REQUIRE(a.wait.came());
    CHECK_THROWS_WITH(std::rethrow_exception(a.wait.problem()), contains("'c'") && contains("rank 0"));
    CHECK(b.give({6}));
    CHECK(again.result() == std::vector{5, 6});
}

TEST_CASE("collective_state: values that do not go together, and numbers of no rank") {
    const auto of = std::make_shared<collective_state>("c", 2);
    rank a{of, 0}, b{of, 1}, c{of, 2};
    CHECK_FALSE(a.give({1, 2}));
    CHECK_THROWS_WITH(b.give({1}), contains("rank 1 gives int32 [1]") && contains("rank 0 int32 [2]"));
    CHECK(b.give({3}, true)); // another first extent is none of a gathering's business
    CHECK(a.result() == std::vector{1, 2, 3});
    CHECK_THROWS_WITH(c.give({1}), contains("the rank is 2") && contains("there are 2"));
    CHECK_THROWS_AS(collective_state::check(0), invalid_argument);
    CHECK(of->described() == "collective of 2 ranks");
}

} // namespace test_resources_collective_state
