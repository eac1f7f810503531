// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/random/random_uniform.hpp>

#include <rill/ops/math/add.hpp>
#include <rill/ops/math/sub.hpp>

#include "ops/harness.hpp"

using namespace rill;
using op_test::list;

namespace test_ops_random_random_uniform {

TEST_CASE("random_uniform: a seed says everything") {
    const graph g;
    const graph_scope here(g);
    const auto x = random_uniform<float, 3, 4>({.minval = -1, .maxval = 1, .seed = 7});
    static_assert(std::is_same_v<std::remove_const_t<decltype(x)>, tensor<float, 3, 4>>);
    const session s(g), t(g);
    const auto first = list(s.run(x)), second = list(s.run(x));
    CHECK(first != second);
    CHECK(list(t.run(x)) == first); // each session counts its own runs
    CHECK(list(t.run(x)) == second);
    any_array direct(dtype::float32, {3, 4});
    auto* values = static_cast<float*>(direct.mutable_data());
    cpu::random_uniform(12, {7, 1}, -1, 1, values);
    CHECK(std::equal(second.begin(), second.end(), values));
    const auto other = random_uniform<float, 3, 4>({.minval = -1, .maxval = 1, .seed = 8});
    CHECK(list(t.run(other)) != first);
}

TEST_CASE("random_uniform: without a seed, graph and name give it") {
    const auto draw = [](std::uint64_t seed, const std::string& scope) {
        const graph g;
        const graph_scope here(g);
        g.set_seed(seed);
        const name_scope named(scope);
        const auto x = random_uniform<double, 5>(), y = random_uniform<double, 5>();
        const session s(g);
        const auto [a, b] = s.run(std::tuple(x, y));
        CHECK(list(a) != list(b)); // equal attributes, and yet never one node
        return list(a);
    };
    CHECK(draw(1, "a") == draw(1, "a"));
    CHECK(draw(1, "a") != draw(2, "a"));
    CHECK(draw(1, "a") != draw(1, "b"));
}

TEST_CASE("random_uniform: one value in a run, however often it is used") {
    const graph g;
    const graph_scope here(g);
    const session s(g);
    const auto x = random_uniform<float, 100>();
    const auto difference = s.run(x + x - x - x);
    CHECK(std::all_of(difference.begin(), difference.end(), [](float v) { return v == 0.f; }));
    CHECK_FALSE(gradients({x}, {any_placeholder("other", dtype::float32)})[0].has_value());
}

TEST_CASE("random_uniform: types and shapes known at run time") {
    const graph g;
    const graph_scope here(g);
    const session s(g);
    const any_tensor x = random_uniform(dtype::float64, {2, 5}, {.minval = -1, .maxval = 1, .seed = 3});
    CHECK(s.run(x).type() == tensor_type{dtype::float64, {2, 5}});
    CHECK(list(s.run(x)) != list(s.run(x)));
    CHECK(s.run(random_uniform<half, 7>()).size() == 7);
    CHECK(s.run(random_uniform<float>()) != 0.f);
    CHECK(s.run(random_uniform<float, 0, 3>()).size() == 0);
    CHECK_THROWS_WITH(random_uniform(dtype::float32, {2, dyn}), contains("random_uniform: the shape [2, ?] is not known"));
    CHECK_THROWS_AS(random_uniform(dtype::string, {2}), invalid_argument);
}

TEST_CASE("random_uniform: bounds") {
    const graph g;
    const graph_scope here(g);
    const session s(g);
    const auto dice = s.run(random_uniform<int, 1000>({.minval = 1, .maxval = 7, .seed = 1}));
    CHECK(*std::min_element(dice.begin(), dice.end()) == 1);
    CHECK(*std::max_element(dice.begin(), dice.end()) == 6);
    CHECK(s.run(random_uniform(dtype::int64, {3}, {.minval = 5, .maxval = 6})).elements<std::int64_t>()[2] == 5);
    CHECK(s.run(random_uniform<std::uint8_t, 3>({.minval = 255, .maxval = 256}))(0) == 255);
    CHECK_THROWS_WITH((random_uniform<int, 3>({.minval = 2, .maxval = 2})), contains("random_uniform: no int32 lies between"));
    CHECK_THROWS_WITH((random_uniform<int, 3>({.minval = 0.5, .maxval = 2})), contains("whole numbers"));
    CHECK_THROWS_AS((random_uniform<std::uint8_t, 3>({.minval = -1, .maxval = 2})), invalid_argument);
    CHECK_THROWS_AS((random_uniform<std::int8_t, 3>({.minval = 0, .maxval = 129})), invalid_argument);
    CHECK_THROWS_AS((random_uniform<float, 3>({.minval = 1, .maxval = 0})), invalid_argument);
    CHECK_THROWS_WITH((random_uniform<float, 3>({.minval = 0, .maxval = std::numeric_limits<double>::infinity()})), contains("finite"));
}

} // namespace test_ops_random_random_uniform
