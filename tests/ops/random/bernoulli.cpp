// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/random/bernoulli.hpp>

#include <rill/ops/array/shape.hpp>

#include "ops/harness.hpp"

using namespace rill;

TEST_CASE("bernoulli: as often as p says, of the type asked for") {
    const graph g;
    const graph_scope here(g);
    const session s(g);
    const auto share = [&](double p) {
        const auto drawn = op_test::list(s.run(bernoulli<float, 20000>({.p = p, .seed = 3})));
        for (const float v : drawn)
            if (v != 0 && v != 1) return -1.;
        return std::accumulate(drawn.begin(), drawn.end(), 0.) / 20000;
    };
    CHECK(share(0.3) == Approx(0.3).margin(0.02)); // five deviations of 0.0033 and more
    CHECK(share(0) == 0);
    CHECK(share(1) == 1);
    const any_array some = s.run(bernoulli<bool>(dims{1 << 23}, {.p = 0x1p-25, .seed = 3}));
    const auto rare = some.elements<bool>();
    CHECK(std::count(rare.begin(), rare.end(), true) <= 3); // on the grid of a float each 2^24th is 0
    const auto bits = bernoulli<bool, 64>({.seed = 5});
    const auto first = op_test::list(s.run(bits)), second = op_test::list(s.run(bits));
    static_assert(std::is_same_v<decltype(first), const std::vector<bool>>);
    CHECK(first != second); // drawn anew
    CHECK_THROWS_WITH((bernoulli<float, 2>({.p = 1.5})),
                      contains("bernoulli: p is 1.500000, and must lie between 0 and 1") && contains("bernoulli.cpp"));
}

TEST_CASE("bernoulli: shapes known at run time") {
    const graph g;
    const graph_scope here(g);
    placeholder<float, dyn, 2> x("x");
    const auto like = bernoulli<int>(shape(x), {.p = 1});
    static_assert(std::is_same_v<decltype(sealed(like)), tensor<int, dyn, dyn>>);
    const session s(g);
    CHECK(op_test::list(s.run(like, feed(x, xt::xtensor<float, 2>({1, 2}, 0.f)))) == std::vector<int>{1, 1});
    const any_array drawn = s.run(bernoulli<float>(dims{2, 50}, {.seed = 3}));
    CHECK(drawn.type() == tensor_type{dtype::float32, {2, 50}});
    const auto typed = op_test::list(session(g).run(bernoulli<float, 2, 50>({.seed = 3})));
    CHECK(op_test::difference<float>(drawn, {2, 50}, typed) == "");
    CHECK_THROWS_AS(bernoulli<float>(dims{2, dyn}), invalid_argument);
}
