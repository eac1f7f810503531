// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/random/bernoulli.hpp>

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
    const auto bits = bernoulli<bool, 64>({.seed = 5});
    const auto first = op_test::list(s.run(bits)), second = op_test::list(s.run(bits));
    static_assert(std::is_same_v<decltype(first), const std::vector<bool>>);
    CHECK(first != second); // drawn anew
    CHECK_THROWS_WITH((bernoulli<float, 2>({.p = 1.5})), contains("bernoulli: p must lie between 0 and 1"));
}
