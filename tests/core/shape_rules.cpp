// SPDX-License-Identifier: BSD-3-Clause
#include <rill/core/shape_rules.hpp>

#include <rill/core/error.hpp>

#include "catch.hpp"

using namespace rill;

namespace test_shape_rules {

/// All shapes of rank 0 to `most` with extents from the list.
inline std::vector<dims> shapes(int most, const std::vector<index_t>& extents) {
    std::vector<dims> all{dims{}};
    for (std::size_t at = 0; at < all.size(); ++at)
        if (all[at].rank < most)
            for (const auto e : extents) {
                dims longer = all[at];
                longer.push(e);
                all.push_back(longer);
            }
    return all;
}

/// All complete shapes that a shape may turn out to be.
inline std::vector<dims> meanings(const dims& d) {
    std::vector<dims> all{dims{}};
    for (int i = 0; i < d.rank; ++i) {
        std::vector<dims> next;
        for (const auto& begun : all)
            for (index_t e = 0; e < 4; ++e)
                if (d[i] == dyn || d[i] == e) {
                    next.push_back(begun);
                    next.back().push(e);
                }
        all = std::move(next);
    }
    return all;
}

/// What a rule says of shapes with open extents holds for every shape they may turn out to be; and it refuses only what
/// would be refused whatever they turn out to be.
template <class Rule>
void sound_for_two(const Rule& rule, const std::vector<dims>& of_a, const std::vector<dims>& of_b) {
    int wrong = 0, cases = 0, refused = 0;
    for (const auto& a : of_a)
        for (const auto& b : of_b) {
            const shape_result open = rule(a, b);
            bool some = false;
            for (const auto& x : meanings(a))
                for (const auto& y : meanings(b)) {
                    const shape_result closed = rule(x, y);
                    ++cases;
                    some = some || closed.ok();
                    if (!closed.ok()) continue;
                    wrong += !closed.shape.complete() || !open.ok() || !rules::compatible(open.shape, closed.shape);
                }
            refused += !some;
            wrong += a.complete() && b.complete() && open.ok() != some;
        }
    CHECK(wrong == 0);
    CHECK(cases > 1000);
    CHECK(refused > 0);
}

inline const std::vector<index_t> some_extents{0, 1, 2, 3, dyn};

} // namespace test_shape_rules

TEST_CASE("shape rules: axes count from either end") {
    STATIC_REQUIRE(rules::normal_axis(-1, 3) == 2);
    STATIC_REQUIRE(rules::normal_axis(2, 3) == 2);
    STATIC_REQUIRE(rules::normal_axis(3, 3) == -1);
    STATIC_REQUIRE(rules::normal_axis(-4, 3) == -1);
    STATIC_REQUIRE(rules::normal_axis(0, 0) == -1);
}

TEST_CASE("shape rules: compatible and merge") {
    STATIC_REQUIRE(rules::compatible(dims{dyn, 4}, dims{3, 4}));
    STATIC_REQUIRE(rules::compatible(dims{dyn, 4}, dims{3, dyn}));
    STATIC_REQUIRE(rules::compatible(dims::unknown(), dims{3}));
    STATIC_REQUIRE_FALSE(rules::compatible(dims{3}, dims{1, 3}));
    STATIC_REQUIRE_FALSE(rules::compatible(dims{dyn, 4}, dims{3, 5}));
    STATIC_REQUIRE(rules::merge(dims{dyn, 4}, dims{3, dyn}) == dims{3, 4});
    STATIC_REQUIRE(rules::merge(dims::unknown(), dims{3}) == dims{3});
}

TEST_CASE("shape rules: broadcast") {
    STATIC_REQUIRE(rules::broadcast(dims{4, 1, 3}, dims{2, 1}).shape == dims{4, 2, 3});
    STATIC_REQUIRE(rules::broadcast(dims{}, dims{2, dyn}).shape == dims{2, dyn});
    STATIC_REQUIRE(rules::broadcast(dims{dyn}, dims{5}).shape == dims{5});
    STATIC_REQUIRE(rules::broadcast(dims{dyn}, dims{1}).shape == dims{dyn});
    STATIC_REQUIRE(rules::broadcast(dims{0}, dims{1}).shape == dims{0});
    STATIC_REQUIRE_FALSE(rules::broadcast(dims{2, 3}, dims{2, 4}).ok());
    STATIC_REQUIRE_FALSE(rules::broadcast(dims{0}, dims{2}).ok());
    STATIC_REQUIRE(rules::broadcast(dims::unknown(), dims{2}).shape == dims::unknown());
    using namespace test_shape_rules;
    const auto all = shapes(2, some_extents);
    sound_for_two([](const dims& a, const dims& b) { return rules::broadcast(a, b); }, all, all);
}

TEST_CASE("shape rules: matmul") {
    STATIC_REQUIRE(rules::matmul(dims{dyn, 64}, dims{64, 10}).shape == dims{dyn, 10});
    STATIC_REQUIRE(rules::matmul(dims{64, dyn}, dims{10, 64}, true, true).shape == dims{dyn, 10});
    STATIC_REQUIRE_FALSE(rules::matmul(dims{2, 64}, dims{63, 5}).ok());
    STATIC_REQUIRE_FALSE(rules::matmul(dims{2}, dims{2, 5}).ok());
    STATIC_REQUIRE_FALSE(rules::matmul(dims::unknown(), dims{2}).ok());
    STATIC_REQUIRE(rules::matmul(dims::unknown(), dims{5, 3}, false, true).shape == dims{dyn, 5});
    using namespace test_shape_rules;
    const auto all = shapes(2, some_extents);
    for (const bool ta : {false, true})
        for (const bool tb : {false, true})
            sound_for_two([=](const dims& a, const dims& b) { return rules::matmul(a, b, ta, tb); }, all, all);
}

TEST_CASE("shape rules: reduce") {
    STATIC_REQUIRE(rules::reduce(dims{2, 3, dyn}, {}, false).shape == dims{});
    STATIC_REQUIRE(rules::reduce(dims{2, 3, dyn}, {}, true).shape == dims{1, 1, 1});
    STATIC_REQUIRE(rules::reduce(dims{2, 3, dyn}, {-1, 0}, false).shape == dims{3});
    STATIC_REQUIRE(rules::reduce(dims{2, 3, dyn}, {-1, 0}, true).shape == dims{1, 3, 1});
    STATIC_REQUIRE_FALSE(rules::reduce(dims{2, 3}, {2}, false).ok());
    STATIC_REQUIRE_FALSE(rules::reduce(dims{2, 3}, {1, -1}, false).ok()); // twice the same
    STATIC_REQUIRE(rules::reduce(dims::unknown(), {}, false).shape == dims{});
    STATIC_REQUIRE(rules::reduce(dims::unknown(), {0}, false).shape == dims::unknown());
}

TEST_CASE("shape rules: reshape") {
    STATIC_REQUIRE(rules::reshape(dims{2, 6}, dims{dyn, 4}).shape == dims{3, 4});
    STATIC_REQUIRE(rules::reshape(dims{2, 6}, dims{3, 4}).ok());
    STATIC_REQUIRE(rules::reshape(dims{}, dims{1, 1}).ok());
    STATIC_REQUIRE(rules::reshape(dims{0, 3}, dims{dyn, 7}).shape == dims{0, 7});
    STATIC_REQUIRE_FALSE(rules::reshape(dims{2, 6}, dims{5}).ok());
    STATIC_REQUIRE_FALSE(rules::reshape(dims{2, 6}, dims{dyn, 5}).ok());
    STATIC_REQUIRE_FALSE(rules::reshape(dims{0}, dims{dyn, 0}).ok()); // any extent would do: none is right
    STATIC_REQUIRE(rules::reshape(dims{dyn, 6}, dims{3, 4}).ok());
    using namespace test_shape_rules;
    int wrong = 0, cases = 0;
    for (const auto& to : shapes(2, some_extents))
        for (const auto& from : shapes(2, some_extents))
            for (const auto& x : meanings(from)) {
                if (to.dynamic_extents() > 1) continue;
                const auto open = rules::reshape(from, to), closed = rules::reshape(x, to);
                ++cases;
                if (!closed.ok()) continue;
                wrong += closed.shape.size() != x.size() || !open.ok() || !rules::compatible(open.shape, closed.shape);
            }
    CHECK(wrong == 0);
    CHECK(cases > 1000);
}

TEST_CASE("shape rules: transpose") {
    STATIC_REQUIRE(rules::transpose(dims{2, 3, 4}, {}).shape == dims{4, 3, 2});
    STATIC_REQUIRE(rules::transpose(dims{2, 3, dyn}, {1, -1, 0}).shape == dims{3, dyn, 2});
    STATIC_REQUIRE_FALSE(rules::transpose(dims{2, 3}, {0}).ok());
    STATIC_REQUIRE_FALSE(rules::transpose(dims{2, 3}, {0, 0}).ok());
    STATIC_REQUIRE_FALSE(rules::transpose(dims{2, 3}, {0, 2}).ok());
    STATIC_REQUIRE(rules::transpose(dims::unknown(), {1, 0}).ok());
}

TEST_CASE("shape rules: concat") {
    STATIC_REQUIRE(rules::concat(dims{2, 3}, dims{2, 4}, 1).shape == dims{2, 7});
    STATIC_REQUIRE(rules::concat(dims{2, dyn}, dims{dyn, 4}, -1).shape == dims{2, dyn});
    STATIC_REQUIRE_FALSE(rules::concat(dims{2, 3}, dims{3, 3}, 1).ok());
    STATIC_REQUIRE_FALSE(rules::concat(dims{2, 3}, dims{2}, 0).ok());
    STATIC_REQUIRE_FALSE(rules::concat(dims{}, dims{}, 0).ok());
    using namespace test_shape_rules;
    const auto all = shapes(2, some_extents);
    for (const int axis : {0, -1})
        sound_for_two([=](const dims& a, const dims& b) { return rules::concat(a, b, axis); }, all, all);
}

TEST_CASE("shape rules: gather and insert_axis") {
    STATIC_REQUIRE(rules::gather(dims{10, 4}, dims{dyn, 3}, 0).shape == dims{dyn, 3, 4});
    STATIC_REQUIRE(rules::gather(dims{10, 4}, dims{}, -1).shape == dims{10});
    STATIC_REQUIRE_FALSE(rules::gather(dims{10, 4}, dims{3}, 2).ok());
    STATIC_REQUIRE_FALSE(rules::gather(dims{1, 1, 1, 1, 1, 1, 1, 1}, dims{2, 2}, 0).ok());
    STATIC_REQUIRE(rules::insert_axis(dims{2, 3}, 1, 5).shape == dims{2, 5, 3});
    STATIC_REQUIRE(rules::insert_axis(dims{2, 3}, -1, 5).shape == dims{2, 3, 5});
    STATIC_REQUIRE(rules::insert_axis(dims{}, 0, 1).shape == dims{1});
    STATIC_REQUIRE_FALSE(rules::insert_axis(dims{2, 3}, 3, 5).ok());
    STATIC_REQUIRE_FALSE(rules::insert_axis(dims{1, 1, 1, 1, 1, 1, 1, 1}, 0, 1).ok());
    using namespace test_shape_rules;
    sound_for_two([](const dims& a, const dims& b) { return rules::gather(a, b, 0); }, shapes(2, some_extents),
                  shapes(2, some_extents));
}

TEST_CASE("shape rules: a refusal is one phrase, its result well-formed") {
    constexpr auto r = rules::matmul(dims{2, 64}, dims{63, 5});
    CHECK(std::string(r.broken) == "the inner extents differ");
    CHECK(r.shape == dims{2, 5});
}

TEST_CASE("axes at run time: numbers, lists and ranges, and what types know of the rank of a result") {
    STATIC_REQUIRE(to_axes(2) == axis_list{2});
    STATIC_REQUIRE(to_axes(index_t(-1)) == axis_list{-1});
    STATIC_REQUIRE(to_axes(std::array{0, 2}) == axis_list{0, 2});
    CHECK(to_axes(std::vector<index_t>{1, index_t(1) << 40}) == axis_list{1, 127}); // no tensor has such an axis
    STATIC_REQUIRE(runtime_axes<std::size_t> && runtime_axes<axis_list> && !runtime_axes<bool> && !runtime_axes<dims>);
    STATIC_REQUIRE(rules::reduce_later<int>(dims{2, 3}, false).shape == dims{dyn});
    STATIC_REQUIRE(rules::reduce_later<std::array<int, 2>>(dims{2, 3}, false).shape == dims{});
    STATIC_REQUIRE_FALSE(rules::reduce_later<axis_list>(dims{2, 3}, false).shape.known_rank());
    STATIC_REQUIRE(rules::reduce_later<axis_list>(dims{2, 3}, true).shape == dims{dyn, dyn});
    STATIC_REQUIRE_FALSE(rules::reduce_later<int>(dims{}, false).ok());
    STATIC_REQUIRE_FALSE(rules::change_rank(dims::unknown(), 1).shape.known_rank());
    STATIC_REQUIRE_FALSE(rules::change_rank(dims{1, 1, 1, 1, 1, 1, 1, 1}, 1).ok());
}

TEST_CASE("axis_list: more axes than 8 are refused") {
    CHECK(axis_list{0, 1, 2, 3, 4, 5, 6, 7}.count == 8);
    CHECK_THROWS_AS((axis_list{0, 1, 2, 3, 4, 5, 6, 7, 0}), invalid_argument);
    CHECK_THROWS_WITH((axis_list{0, 1, 2, 3, 4, 5, 6, 7, 0}), contains("at most 8"));
}

TEST_CASE("rules::reshape: sizes that no index counts are no size, not what is left of them") {
    constexpr index_t half = index_t(1) << 32;
    STATIC_REQUIRE(rules::known_size(dims{half, half}) == -1);
    STATIC_REQUIRE(rules::known_size(dims{half, half, 0, dyn}) == 0);
    STATIC_REQUIRE(rules::known_size(dims{half, half / 2}) == -1);
    STATIC_REQUIRE(rules::known_size(dims{half, half / 4, dyn}) == index_t(1) << 62);
    STATIC_REQUIRE_FALSE(rules::reshape(dims{0}, dims{half, half}).ok()); // 2^64 wraps to 0
    STATIC_REQUIRE_FALSE(rules::reshape(dims{half, half}, dims{0}).ok());
    STATIC_REQUIRE_FALSE(rules::reshape(dims{16}, dims{half, half, dyn}).ok());
    STATIC_REQUIRE(rules::reshape(dims{0, half, half}, dims{0}).ok());
}

TEST_CASE("shape_rules: a broken rule says which axis it is about") {
    CHECK(rules::reduce(dims{2, 3}, {4}, false).reason() == "an axis is out of range: 4");
    CHECK(rules::gather(dims{2, 3}, dims{}, -3).reason() == "the axis is out of range: -3");
    CHECK(rules::matmul(dims{2}, dims{2, 3}).reason() == "both operands must be matrices (rank 2)");
}
