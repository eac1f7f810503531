// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/random/truncated_normal.hpp>

#include "ops/random/random_test.hpp"

using namespace rill;

namespace test_ops_random_truncated_normal {

struct op {
    static constexpr auto name = "truncated_normal";
    template <class T, index_t... D> static auto seeded(std::uint64_t seed) {
        return truncated_normal<T, D...>({.mean = 0, .stddev = 1, .seed = seed});
    }
    template <class T, index_t... D> static auto unseeded() { return truncated_normal<T, D...>(); }
    static any_tensor untyped(dtype type, const dims& shape, std::uint64_t seed) {
        return truncated_normal(type, shape, {.mean = 0, .stddev = 1, .seed = seed});
    }
    static any_tensor untyped(dtype type, const dims& shape) { return truncated_normal(type, shape); }
    template <class T, class S> static auto like(const S& shape, std::uint64_t seed) {
        return truncated_normal<T>(shape, {.mean = 0, .stddev = 1, .seed = seed});
    }
    template <class S> static any_tensor like(dtype type, const S& shape, std::uint64_t seed) {
        return truncated_normal(type, shape, {.mean = 0, .stddev = 1, .seed = seed});
    }
    static void fill(index_t n, const random_stream& s, float* to) { cpu::truncated_normal({}, n, &s, 0, 1, to); }
};

TEST_CASE("truncated_normal: a seed says everything") { random_test::seed_says_everything<op>(); }
TEST_CASE("truncated_normal: without a seed, graph and name give it") { random_test::graph_and_name_seed<op>(); }
TEST_CASE("truncated_normal: one value in a run, however often it is used") { random_test::one_value_in_a_run<op>(); }
TEST_CASE("truncated_normal: types and shapes known at run time") { random_test::known_at_run_time<op>(); }
TEST_CASE("truncated_normal: of a shape that a tensor says") { random_test::shape_is_a_value<op>(); }

TEST_CASE("truncated_normal: nothing further than two deviations") {
    const graph g;
    const graph_scope here(g);
    const session s(g);
    const auto v = s.run(truncated_normal<float, 20000>({.mean = 5, .stddev = 0.5, .seed = 1}));
    CHECK(*std::min_element(v.begin(), v.end()) >= 4.f);
    CHECK(*std::min_element(v.begin(), v.end()) < 4.05f);
    CHECK(*std::max_element(v.begin(), v.end()) <= 6.f);
    CHECK_THROWS_AS((truncated_normal<float, 3>({.stddev = -1})), invalid_argument);
}

} // namespace test_ops_random_truncated_normal
