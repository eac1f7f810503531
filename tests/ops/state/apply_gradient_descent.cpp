// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/state/apply_gradient_descent.hpp>

#include "catch.hpp"

using namespace rill;

TEST_CASE("apply_gradient_descent: one pass, and shapes checked") {
    const std::vector<tensor_type> good{
        {dtype::float32, dims{20}}, {dtype::float32, dims{}}, {dtype::float32, dims{20}}};
    const std::vector<tensor_type> bad{good[0], good[1], {dtype::float32, dims{3}}};
    CHECK_THROWS_AS(apply_gradient_descent_op{}.outputs(bad), invalid_argument);
    const auto out = apply_gradient_descent_op{}.outputs(good);
    kernel_request request{good, out};
    const kernel k = apply_gradient_descent_op{}.bind<cpu, float>(request);
    std::vector<float> v(20, 1.f), g(20, 4.f);
    float rate = 0.25f;
    void* slots[] = {v.data(), &rate, g.data()};
    const std::int32_t inputs[] = {0, 1, 2}, outputs[] = {0};
    k({slots, inputs, outputs});
    CHECK(v == std::vector<float>(20, 0.f));
}
