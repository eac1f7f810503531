// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/random/random_normal.hpp>

#include "ops/random/random_test.hpp"

using namespace rill;

namespace test_ops_random_random_normal {

struct op {
    static constexpr auto name = "random_normal";
    template <class T, index_t... D> static auto seeded(std::uint64_t seed) {
        return random_normal<T, D...>({.mean = 0, .stddev = 1, .seed = seed});
    }
    template <class T, index_t... D> static auto unseeded() { return random_normal<T, D...>(); }
    static any_tensor untyped(dtype type, const dims& shape, std::uint64_t seed) {
        return random_normal(type, shape, {.mean = 0, .stddev = 1, .seed = seed});
    }
    static any_tensor untyped(dtype type, const dims& shape) { return random_normal(type, shape); }
    template <class T, class S> static auto like(const S& shape, std::uint64_t seed) {
        return random_normal<T>(shape, {.mean = 0, .stddev = 1, .seed = seed});
    }
    template <class S> static any_tensor like(dtype type, const S& shape, std::uint64_t seed) {
        return random_normal(type, shape, {.mean = 0, .stddev = 1, .seed = seed});
    }
    static void fill(index_t n, const random_stream& s, float* to) { cpu::random_normal({}, n, &s, 0, 1, to); }
};

TEST_CASE("random_normal: a seed says everything") { random_test::seed_says_everything<op>(); }
TEST_CASE("random_normal: without a seed, graph and name give it") { random_test::graph_and_name_seed<op>(); }
TEST_CASE("random_normal: one value in a run, however often it is used") { random_test::one_value_in_a_run<op>(); }
TEST_CASE("random_normal: types and shapes known at run time") { random_test::known_at_run_time<op>(); }
TEST_CASE("random_normal: of a shape that a tensor says") { random_test::shape_is_a_value<op>(); }

TEST_CASE("random_normal: mean and deviation") {
    const graph g;
    const graph_scope here(g);
    const session s(g);
    const auto v = s.run(random_normal<float, 20000>({.mean = 5, .stddev = 0.5, .seed = 1}));
    double sum = 0, squares = 0;
    for (const float x : v)
        sum += static_cast<double>(x), squares += (static_cast<double>(x) - 5) * (static_cast<double>(x) - 5);
    CHECK(sum / 20000 == Approx(5).margin(0.02));
    CHECK(squares / 20000 == Approx(0.25).margin(0.01));
    CHECK_THROWS_WITH((random_normal<float, 3>({.stddev = -1})),
                      contains("random_normal: mean and stddev must be finite, and stddev not negative"));
}

} // namespace test_ops_random_random_normal
