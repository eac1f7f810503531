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

    bool give(std::vector<std::int32_t> value, detail::collective_kind kind = detail::collective_kind::all_reduce,
              const std::string& tensor = {}) {
        wait = {};
        out = {};
        return of->exchange(
            number, numbers(std::move(value)),
            {kind, 0, tensor,
             [](std::span<const any_array> values) {
                 std::vector<std::int32_t> all;
                 for (const auto& v : values)
                     for (const auto x : v.elements<std::int32_t>()) all.push_back(x);
                 return numbers(std::move(all));
             }},
            wait, &out);
    }
    std::string problem() const {
        try {
            if (wait.came() && wait.problem()) std::rethrow_exception(wait.problem());
        } catch (const invalid_argument& e) {
            return e.what();
        }
        return "";
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

TEST_CASE("collective_state: ranks that do not make the same exchange all fail, and each error names both") {
    using enum detail::collective_kind;
    const auto of = std::make_shared<collective_state>("c", 3);
    rank a{of, 0}, b{of, 1}, c{of, 2};
    const auto differ = [&](const auto& one, const auto& other, const std::string& what_one, const std::string& what_other) {
        CHECK_FALSE(one());
        CHECK_THROWS_WITH(other(), contains("'c'") && contains("rank 0 " + what_one) &&
                                       contains("rank 1 gives " + what_other));
        CHECK_THAT(a.problem(), contains("rank 0 " + what_one) && contains("rank 1 gives " + what_other));
        CHECK_THROWS_WITH(c.give({1}), contains("rank 1 gives " + what_other)); // it comes too late
        CHECK_FALSE(c.give({3})); // and the next exchange is as if nothing had been
        CHECK_FALSE(b.give({2}));
        CHECK(a.give({1}));
        CHECK(c.result() == std::vector{1, 2, 3});
    };
    differ([&] { return a.give({1, 2}); }, [&] { return b.give({1}); }, "int32 [2] (to all_reduce)",
           "int32 [1] (to all_reduce)");
    differ([&] { return a.give({1}, all_reduce, "w"); }, [&] { return b.give({1}, all_gather, "w"); },
           "int32 [1] ('w', to all_reduce)", "int32 [1] ('w', to all_gather)");
    differ([&] { return a.give({1}, all_reduce, "w"); }, [&] { return b.give({1}, all_reduce, "b"); }, "int32 [1] ('w'",
           "int32 [1] ('b'");
}

TEST_CASE("collective_state: first extents of lists, numbers in names, and numbers of no rank") {
    using enum detail::collective_kind;
    const auto of = std::make_shared<collective_state>("c", 2);
    rank a{of, 0}, b{of, 1}, c{of, 2};
    CHECK_FALSE(a.give({1, 2}, all_gather));
    CHECK(b.give({3}, all_gather));
    CHECK(a.result() == std::vector{1, 2, 3});
    CHECK_FALSE(a.give({1}, all_reduce, "layer_1/mul_2")); // a graph numbers equal names
    CHECK(b.give({2}, all_reduce, "layer/mul_13"));
    CHECK_THROWS_WITH(c.give({1}), contains("the rank is 2") && contains("there are 2"));
    CHECK_THROWS_AS(collective_state::check(0), invalid_argument);
    CHECK_THROWS_WITH(detail::check_root({broadcast_from, 2, "", {}}, 2), contains("the rank is 2"));
    CHECK(of->described() == "collective of 2 ranks");
}

} // namespace test_resources_collective_state
