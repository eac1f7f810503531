// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/random/random_gamma.hpp>

#include "ops/random/random_test.hpp"

using namespace rill;

namespace test_ops_random_random_gamma {

struct op {
    static constexpr auto name = "random_gamma";
    template <class T, index_t... D> static auto seeded(std::uint64_t seed) {
        return random_gamma<T, D...>({.alpha = 2, .beta = 3, .seed = seed});
    }
    template <class T, index_t... D> static auto unseeded() { return random_gamma<T, D...>({.alpha = 2}); }
    static any_tensor untyped(dtype type, const dims& shape, std::uint64_t seed) {
        return random_gamma(type, shape, {.alpha = 2, .beta = 3, .seed = seed});
    }
    static any_tensor untyped(dtype type, const dims& shape) { return random_gamma(type, shape); }
    template <class T, class S> static auto like(const S& shape, std::uint64_t seed) {
        return random_gamma<T>(shape, {.alpha = 2, .beta = 3, .seed = seed});
    }
    template <class S> static any_tensor like(dtype type, const S& shape, std::uint64_t seed) {
        return random_gamma(type, shape, {.alpha = 2, .beta = 3, .seed = seed});
    }
    static void fill(index_t n, const random_stream& s, float* to) { cpu::random_gamma({}, n, &s, 2, 3, to); }
};

TEST_CASE("random_gamma: a seed says everything") { random_test::seed_says_everything<op>(); }
TEST_CASE("random_gamma: without a seed, graph and name give it") { random_test::graph_and_name_seed<op>(); }
TEST_CASE("random_gamma: one value in a run, however often it is used") { random_test::one_value_in_a_run<op>(); }
TEST_CASE("random_gamma: types and shapes known at run time") { random_test::known_at_run_time<op>(); }
TEST_CASE("random_gamma: of a shape that a tensor says") { random_test::shape_is_a_value<op>(); }
TEST_CASE("random_gamma: the same for any number of threads") { random_test::threads_change_nothing<op>(); }

TEST_CASE("random_gamma: mean and variance, and how many lie below the mean") {
    const graph g;
    const graph_scope here(g);
    const session s(g);
    struct expected {
        double alpha, beta, below; // the share below alpha / beta
    };
    for (const auto& e : {expected{0.1, 1, 0.827552}, expected{0.5, 2, 0.682689}, expected{1, 0.5, 0.632121},
                          expected{4, 1, 0.566530}, expected{100, 10, 0.513299}}) {
        INFO("alpha " << e.alpha << ", beta " << e.beta);
        constexpr index_t n = 40000;
        const any_array drawn = s.run(random_gamma(dtype::float64, {n}, {.alpha = e.alpha, .beta = e.beta, .seed = 1}));
        const double mean = e.alpha / e.beta, variance = mean / e.beta;
        double sum = 0, squares = 0, below = 0, least = mean;
        for (const double x : drawn.elements<double>()) {
            sum += x, squares += (x - mean) * (x - mean), below += x < mean;
            least = std::min(least, x);
        }
        CHECK(least > 0);
        // five standard errors
        CHECK(sum / n == Approx(mean).margin(5 * std::sqrt(variance / n)));
        CHECK(squares / n == Approx(variance).margin(5 * variance * std::sqrt((2 + 6 / e.alpha) / n)));
        CHECK(below / n == Approx(e.below).margin(5 * 0.5 / std::sqrt(n)));
    }
    CHECK_THROWS_WITH((random_gamma<float, 3>({.alpha = 0})),
                      contains("random_gamma: alpha and beta must be finite and greater than 0"));
    CHECK_THROWS_AS((random_gamma<float, 3>({.beta = -1})), invalid_argument);
}

TEST_CASE("random_gamma: made by name, its fields read back") {
    const op_ptr made = make_op(random_gamma_op{{dtype::float64, {2}, 5}, 3, 4});
    CHECK(make_op("RandomGamma", 1, bytes_of_fields(*made))->equals(*made));
    CHECK_FALSE(make_op("RandomGamma")->equals(*made));
}

} // namespace test_ops_random_random_gamma
