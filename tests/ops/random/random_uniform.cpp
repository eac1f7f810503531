// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/random/random_uniform.hpp>

#include "ops/random/random_test.hpp"

using namespace rill;

namespace test_ops_random_random_uniform {

struct op {
    static constexpr auto name = "random_uniform";
    template <class T, index_t... D> static auto seeded(std::uint64_t seed) {
        return random_uniform<T, D...>({.minval = -1, .maxval = 1, .seed = seed});
    }
    template <class T, index_t... D> static auto unseeded() { return random_uniform<T, D...>(); }
    static any_tensor untyped(dtype type, const dims& shape, std::uint64_t seed) {
        return random_uniform(type, shape, {.minval = -1, .maxval = 1, .seed = seed});
    }
    static any_tensor untyped(dtype type, const dims& shape) { return random_uniform(type, shape); }
    template <class T, class S> static auto like(const S& shape, std::uint64_t seed) {
        return random_uniform<T>(shape, {.minval = -1, .maxval = 1, .seed = seed});
    }
    template <class S> static any_tensor like(dtype type, const S& shape, std::uint64_t seed) {
        return random_uniform(type, shape, {.minval = -1, .maxval = 1, .seed = seed});
    }
    static void fill(index_t n, const random_stream& s, float* to) { cpu::random_uniform({}, n, &s, -1, 1, to); }
};

TEST_CASE("random_uniform: a seed says everything") { random_test::seed_says_everything<op>(); }
TEST_CASE("random_uniform: without a seed, graph and name give it") { random_test::graph_and_name_seed<op>(); }
TEST_CASE("random_uniform: one value in a run, however often it is used") { random_test::one_value_in_a_run<op>(); }
TEST_CASE("random_uniform: types and shapes known at run time") { random_test::known_at_run_time<op>(); }
TEST_CASE("random_uniform: of a shape that a tensor says") { random_test::shape_is_a_value<op>(); }

TEST_CASE("random_uniform: bounds") {
    const graph g;
    const graph_scope here(g);
    const session s(g);
    const auto dice = s.run(random_uniform<int, 1000>({.minval = 1, .maxval = 7, .seed = 1}));
    CHECK(*std::min_element(dice.begin(), dice.end()) == 1);
    CHECK(*std::max_element(dice.begin(), dice.end()) == 6);
    CHECK(s.run(random_uniform(dtype::int64, {3}, {.minval = 5, .maxval = 6})).elements<std::int64_t>()[2] == 5);
    CHECK(s.run(random_uniform<std::uint8_t, 3>({.minval = 255, .maxval = 256}))(0) == 255);
    CHECK_THROWS_WITH((random_uniform<int, 3>({.minval = 2, .maxval = 2})),
                      contains("random_uniform: no int32 lies between"));
    CHECK_THROWS_WITH((random_uniform<int, 3>({.minval = 0.5, .maxval = 2})), contains("whole numbers"));
    CHECK_THROWS_AS((random_uniform<std::uint8_t, 3>({.minval = -1, .maxval = 2})), invalid_argument);
    CHECK_THROWS_AS((random_uniform<std::int8_t, 3>({.minval = 0, .maxval = 129})), invalid_argument);
    CHECK_THROWS_AS((random_uniform<float, 3>({.minval = 1, .maxval = 0})), invalid_argument);
    CHECK_THROWS_WITH((random_uniform<float, 3>({.minval = 0, .maxval = std::numeric_limits<double>::infinity()})),
                      contains("finite"));
    CHECK_THROWS_WITH((random_uniform<float, 3>({.minval = -1e39, .maxval = 1e39})),
                      contains("random_uniform: minval and maxval must be finite as float32"));
    CHECK_THROWS_AS((random_uniform<float, 3>({.minval = 0, .maxval = 3.41e38})), invalid_argument);
    CHECK_THROWS_AS((random_uniform<half, 3>({.minval = -65520, .maxval = 0})), invalid_argument);
    CHECK_THROWS_AS((random_uniform<bfloat16, 3>({.minval = 0, .maxval = 1e39})), invalid_argument);
    constexpr float most = std::numeric_limits<float>::max();
    for (const float v : s.run(random_uniform<float, 100>({.minval = -most, .maxval = most}))) CHECK(std::isfinite(v));
    for (const half v : s.run(random_uniform<half, 100>({.minval = -65504, .maxval = 65504})))
        CHECK(std::isfinite(static_cast<float>(v)));
    CHECK(s.run(random_uniform<double, 3>({.minval = -1e39, .maxval = 1e39}))(0) != 0);
}

} // namespace test_ops_random_random_uniform
