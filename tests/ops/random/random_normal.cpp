// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/random/random_normal.hpp>

#include <rill/ops/math/add.hpp>
#include <rill/ops/math/sub.hpp>

#include "ops/harness.hpp"

using namespace rill;
using op_test::list;

namespace test_ops_random_random_normal {

TEST_CASE("random_normal: a seed says everything") {
    const graph g;
    const graph_scope here(g);
    const auto x = random_normal<float, 3, 4>({.mean = 0, .stddev = 1, .seed = 7});
    static_assert(std::is_same_v<std::remove_const_t<decltype(x)>, tensor<float, 3, 4>>);
    const session s(g), t(g);
    const auto first = list(s.run(x)), second = list(s.run(x));
    CHECK(first != second);
    CHECK(list(t.run(x)) == first); // each session counts its own runs
    CHECK(list(t.run(x)) == second);
    any_array direct(dtype::float32, {3, 4});
    auto* values = static_cast<float*>(direct.mutable_data());
    cpu::random_normal(12, {7, 1}, 0, 1, values);
    CHECK(std::equal(second.begin(), second.end(), values));
    const auto other = random_normal<float, 3, 4>({.mean = 0, .stddev = 1, .seed = 8});
    CHECK(list(t.run(other)) != first);
}

TEST_CASE("random_normal: without a seed, graph and name give it") {
    const auto draw = [](std::uint64_t seed, const std::string& scope) {
        const graph g;
        const graph_scope here(g);
        g.set_seed(seed);
        const name_scope named(scope);
        const auto x = random_normal<double, 5>(), y = random_normal<double, 5>();
        const session s(g);
        const auto [a, b] = s.run(std::tuple(x, y));
        CHECK(list(a) != list(b)); // equal attributes, and yet never one node
        return list(a);
    };
    CHECK(draw(1, "a") == draw(1, "a"));
    CHECK(draw(1, "a") != draw(2, "a"));
    CHECK(draw(1, "a") != draw(1, "b"));
}

TEST_CASE("random_normal: one value in a run, however often it is used") {
    const graph g;
    const graph_scope here(g);
    const session s(g);
    const auto x = random_normal<float, 100>();
    const auto difference = s.run(x + x - x - x);
    CHECK(std::all_of(difference.begin(), difference.end(), [](float v) { return v == 0.f; }));
    CHECK_FALSE(gradients({x}, {any_placeholder("other", dtype::float32)})[0].has_value());
}

TEST_CASE("random_normal: types and shapes known at run time") {
    const graph g;
    const graph_scope here(g);
    const session s(g);
    const any_tensor x = random_normal(dtype::float64, {2, 5}, {.mean = 0, .stddev = 1, .seed = 3});
    CHECK(s.run(x).type() == tensor_type{dtype::float64, {2, 5}});
    CHECK(list(s.run(x)) != list(s.run(x)));
    CHECK(s.run(random_normal<half, 7>()).size() == 7);
    CHECK(s.run(random_normal<float>()) != 0.f);
    CHECK(s.run(random_normal<float, 0, 3>()).size() == 0);
    CHECK_THROWS_WITH(random_normal(dtype::float32, {2, dyn}), contains("random_normal: the shape [2, ?] is not known"));
    CHECK_THROWS_AS(random_normal(dtype::string, {2}), invalid_argument);
}

TEST_CASE("random_normal: mean and deviation") {
    const graph g;
    const graph_scope here(g);
    const session s(g);
    const auto v = s.run(random_normal<float, 20000>({.mean = 5, .stddev = 0.5, .seed = 1}));
    double sum = 0, squares = 0;
    for (const float x : v) sum += static_cast<double>(x), squares += (static_cast<double>(x) - 5) * (static_cast<double>(x) - 5);
    CHECK(sum / 20000 == Approx(5).margin(0.02));
    CHECK(squares / 20000 == Approx(0.25).margin(0.01));
    CHECK_THROWS_WITH((random_normal<float, 3>({.stddev = -1})), contains("random_normal: mean and stddev must be finite, and stddev not negative"));
}

} // namespace test_ops_random_random_normal
