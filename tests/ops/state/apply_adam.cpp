// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/state/apply_adam.hpp>

#include "catch.hpp"

using namespace rill;

TEST_CASE("apply_adam: the first step, by hand") {
    const tensor_type vector{dtype::float64, dims{3}}, number{dtype::float64, dims{}};
    const std::vector<tensor_type> in{vector, vector, vector, number, number, number, vector};
    auto wrong = in;
    wrong[6].shape = dims{4};
    CHECK_THROWS_AS(apply_adam_op{}.outputs(wrong), invalid_argument);
    const auto out = apply_adam_op{}.outputs(in);
    kernel_request request{in, out};
    const kernel k = apply_adam_op{.beta1 = 0.9, .beta2 = 0.99, .epsilon = 1e-3}.bind<cpu, double>(request);
    std::vector<double> x{1, 2, 3}, m(3, 0), v(3, 0), g{0.5, -1, 2};
    double p1 = 0.9, p2 = 0.99, rate = 0.1;
    void* slots[] = {x.data(), m.data(), v.data(), &p1, &p2, &rate, g.data()};
    const std::int32_t inputs[] = {0, 1, 2, 3, 4, 5, 6}, outputs[] = {0};
    k({slots, inputs, outputs});
    for (std::size_t i = 0; i < 3; ++i) {
        const double first = static_cast<double>(i) + 1, me = 0.1 * g[i], ve = 0.01 * g[i] * g[i];
        CHECK(m[i] == Approx(me));
        CHECK(v[i] == Approx(ve));
        CHECK(x[i] == Approx(first - 0.1 * std::sqrt(1 - 0.99) / (1 - 0.9) * me / (std::sqrt(ve) + 1e-3)));
    }
}
