// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/math/count_nonzero.hpp>

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
    const tensor v = constant({{1., 3.}, {2., 8.}});
    CHECK(s.run(tensor(reduce_std<1>(v)))(1) == Approx(3));
    CHECK(s.run(tensor(reduce_std(v))) == Approx(std::sqrt(7.25)));
    op_test::node<double, 1>(
        [](const auto& u) { return sealed(polyval(u, 2, -1, 0, 3)); },
        [](const xt::xarray<double>& u) { return xt::xarray<double>(2. * u * u * u - u * u + 3.); }, {{4}});
}

} // namespace test_ops_math_count_nonzero
