// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/random/random_poisson.hpp>

#include "ops/random/random_test.hpp"

using namespace rill;

namespace test_ops_random_random_poisson {

struct op {
    static constexpr auto name = "random_poisson";
    template <class T, index_t... D> static auto seeded(std::uint64_t seed) {
        return random_poisson<T, D...>({.rate = 30, .seed = seed});
    }
    template <class T, index_t... D> static auto unseeded() { return random_poisson<T, D...>({.rate = 1000}); }
    static any_tensor untyped(dtype type, const dims& shape, std::uint64_t seed) {
        return random_poisson(type, shape, {.rate = 1000, .seed = seed});
    }
    static any_tensor untyped(dtype type, const dims& shape) { return random_poisson(type, shape); }
    template <class T, class S> static auto like(const S& shape, std::uint64_t seed) {
        return random_poisson<T>(shape, {.rate = 30, .seed = seed});
    }
    template <class S> static any_tensor like(dtype type, const S& shape, std::uint64_t seed) {
        return random_poisson(type, shape, {.rate = 1000, .seed = seed});
    }
    static void fill(index_t n, const random_stream& s, float* to) { cpu::random_poisson({}, n, &s, 30, to); }
};

TEST_CASE("random_poisson: a seed says everything") { random_test::seed_says_everything<op>(); }
TEST_CASE("random_poisson: without a seed, graph and name give it") { random_test::graph_and_name_seed<op>(); }
TEST_CASE("random_poisson: one value in a run, however often it is used") { random_test::one_value_in_a_run<op>(); }
TEST_CASE("random_poisson: types and shapes known at run time") { random_test::known_at_run_time<op>(); }
TEST_CASE("random_poisson: of a shape that a tensor says") { random_test::shape_is_a_value<op>(); }
TEST_CASE("random_poisson: the same for any number of threads") { random_test::threads_change_nothing<op>(); }

TEST_CASE("random_poisson: mean, variance, and every count as often as it should be") {
    const graph g;
    const graph_scope here(g);
    const session s(g);
    for (const double rate : {0.3, 4., 9.9, 10., 40., 1000.}) {
        INFO("rate " << rate);
        constexpr index_t n = 40000;
        const any_array drawn = s.run(random_poisson(dtype::int32, {n}, {.rate = rate, .seed = 1}));
        double sum = 0, squares = 0;
        std::vector<double> seen(3000);
        for (const int k : drawn.elements<int>()) {
            sum += k, squares += (k - rate) * (k - rate);
            ++seen.at(static_cast<std::size_t>(k));
        }
        CHECK(sum / n == Approx(rate).margin(5 * std::sqrt(rate / n)));
        CHECK(squares / n == Approx(rate).margin(5 * std::sqrt((2 * rate * rate + rate) / n)));
        for (std::size_t k = 0; k < seen.size(); ++k) {
            const auto x = static_cast<double>(k);
            const double share = std::exp(x * std::log(rate) - rate - std::lgamma(x + 1));
            if (share * n < 10 && seen[k] < 10) continue;
            INFO("count " << k);
            CHECK(seen[k] == Approx(share * n).margin(6 * std::sqrt(share * n)));
        }
    }
    CHECK(s.run(random_poisson<int, 3>({.rate = 0}))(1) == 0);
    CHECK_THROWS_WITH((random_poisson<int, 3>({.rate = -1})),
                      contains("random_poisson: the rate must be finite, and not negative"));
}

TEST_CASE("random_poisson: made by name, its fields read back") {
    const op_ptr made = make_op(random_poisson_op{{dtype::float64, {2}, 4}, 3});
    CHECK(make_op("RandomPoissonV2", 1, bytes_of_fields(*made))->equals(*made));
    CHECK_FALSE(make_op("RandomPoissonV2")->equals(*made));
}

} // namespace test_ops_random_random_poisson
