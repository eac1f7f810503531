// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/math/count_nonzero.hpp>

#include <cmath>
#include <limits>

#include <rill/core/array_text.hpp>
#include <rill/ops/math/gradients.hpp>
#include <rill/ops/math/polyval.hpp>
#include <rill/ops/math/reduce_std.hpp>

#include "ops/harness.hpp"

using namespace rill;

namespace test_ops_math_count_nonzero {

TEST_CASE("count_nonzero, reduce_std, polyval: values and gradients") {
    const graph g;
    const graph_scope here(g);
    const session s(g);
    const tensor x = constant({{0, 2, 0}, {3, 4, 0}});
    CHECK(s.run(count_nonzero(x)) == 3);
    CHECK(s.run(count_nonzero<1>(x))(1) == 2);
    CHECK(to_string(s.run(any_tensor(count_nonzero(x, 1)))) == "int64 [2] {1, 2}");
    CHECK(to_string(s.run(any_tensor(count_nonzero(x, {0, 1}, keep_dims)))) == "int64 [1, 1] {{3}}");
    const any_tensor untyped = x;
    CHECK(to_string(s.run(any_tensor(count_nonzero(untyped)))) == "int64 [] 3");
    CHECK(to_string(s.run(any_tensor(count_nonzero<-1>(untyped)))) == "int64 [2] {1, 2}");
    CHECK(to_string(s.run(any_tensor(count_nonzero(untyped, {0, 1}, keep_dims)))) == "int64 [1, 1] {{3}}");
    CHECK(to_string(s.run(any_tensor(count_nonzero(any_tensor(constant({true, false})), 0)))) == "int64 [] 1");
    CHECK_THROWS_WITH(count_nonzero(untyped, 2), contains("count_nonzero: an axis is out of range: 2"));
    CHECK_THROWS_WITH(count_nonzero(any_tensor(constant({"a"}))), contains("no numbers of type string"));
    const tensor v = constant({{1., 3.}, {2., 8.}});
    CHECK(s.run(tensor(reduce_std<1>(v)))(1) == Approx(3));
    CHECK(s.run(tensor(reduce_std(v))) == Approx(std::sqrt(7.25)));
    op_test::node<double, 1>(
        [](const auto& u) { return sealed(polyval(u, 2, -1, 0, 3)); },
        [](const xt::xarray<double>& u) { return xt::xarray<double>(2. * u * u * u - u * u + 3.); }, {{4}});
}

TEST_CASE("reduce_std: along axes known at run time only, of equal elements, of narrow types") {
    const graph g;
    const graph_scope here(g);
    const session s(g);
    const placeholder<double, 2, 2> x("x");
    const any_tensor untyped = x;
    const auto at = feed(x, xt::xtensor<double, 2>{{1, 3}, {5, 5}});
    CHECK(op_test::list(s.run(tensor(reduce_std(x, 1)), at)) == std::vector<double>{1, 0});
    CHECK(to_string(s.run(any_tensor(reduce_std(untyped, {-1}, keep_dims)), at)) == "float64 [2, 1] {{1}, {0}}");
    CHECK(to_string(s.run(any_tensor(reduce_std<0>(x, keep_dims)), at)) == "float64 [1, 2] {{2, 1}}");
    CHECK_THROWS_WITH(reduce_std(any_placeholder("whole", dtype::int32)), contains("reduce_std"));

    const auto [d] = gradients(reduce_std<1>(x), x); // equal elements have a slope of 0
    CHECK(op_test::list(s.run(d, at)) == std::vector<double>{-0.5, 0.5, 0, 0});
    const any_tensor of_untyped = gradients(reduce_std(untyped, 1), untyped)[0];
    CHECK(op_test::reals(s.run(of_untyped, at)) == std::vector<double>{-0.5, 0.5, 0, 0});
    const auto [second] = gradients(d, x);
    CHECK(std::isfinite(s.run(second, at)(1, 0)));
    const double nan = std::numeric_limits<double>::quiet_NaN();
    CHECK(std::isnan(s.run(tensor(reduce_std(x)), feed(x, xt::xtensor<double, 2>{{1, nan}, {2, 3}}))));

    const placeholder<half, 3> narrow("narrow"); // its variance is beyond half
    const auto far = feed(narrow, std::vector<half>{half(0), half(600), half(-600)});
    CHECK(static_cast<float>(s.run(tensor(reduce_std(narrow)), far)) == 490);
    CHECK(static_cast<float>(s.run(any_tensor(reduce_std(any_tensor(narrow), 0)), far).value<half>()) == 490);
    const auto [slope] = gradients(reduce_std(narrow), narrow);
    CHECK(static_cast<float>(s.run(slope, far)(1)) == Approx(0.4082).epsilon(1e-3));
}

} // namespace test_ops_math_count_nonzero
