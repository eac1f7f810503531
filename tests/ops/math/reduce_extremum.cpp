// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/math/reduce_extremum.hpp>

#include <rill/ops/math/reduce_max.hpp>
#include <rill/ops/math/reduce_min.hpp>
#include <rill/ops/math/sub.hpp>

#include "ops/harness.hpp"

using namespace rill;

TEST_CASE("reduce_extremum: gradient of an expression by leaves that stretch") {
    const graph g;
    const graph_scope here(g);
    const session s(g);
    placeholder<double, dyn, 3> x("x");
    placeholder<double, 3> w("w");
    const std::vector<any_array> at{op_test::point_array<double>({-1, 1}, {4, 3}),
                                    op_test::point_array<double>({-1, 1}, {3}, 1)};
    op_test::gradient_check{s, {x, w}, at}.check(reduce_max<1>(x * w), 2);
    op_test::gradient_check{s, {x, w}, at}.check(reduce_min<0>(x * w, keep_dims), 2);
    op_test::gradient_check{s, {x, w}, at}.check(tensor(x - reduce_max<1>(x, keep_dims) * w), 2);
    op_test::gradient_check{s, {x, w}, at}.check(reduce_max(x - reduce_min<0>(x * w)), 1);
}

TEST_CASE("reduce_extremum: gradient of tensors of unknown type, and over several blocks") {
    const graph g;
    const graph_scope here(g);
    const session s(g);
    const any_tensor x = any_placeholder("x", dtype::float32);
    const auto d = gradients({reduce_max<0>(x)}, {x});
    REQUIRE(d[0]);
    auto values = op_test::points<float>({-1, 1}, 3 * 2000);
    for (std::size_t j = 0; j < 3; ++j) values[3 * (500 * j + 7) + j] = 2;
    const auto got = op_test::run(s, d[0], {x}, {op_test::make_array<float>({2000, 3}, values)});
    for (std::size_t i = 0; i < values.size(); ++i)
        if (got.elements<float>()[i] != (values[i] == 2 ? 1.f : 0.f)) FAIL_CHECK("element " << i);
}

TEST_CASE("reduce_extremum: gradient of a spread") {
    placeholder<double, dyn> x("x");
    const auto [d] = gradients(reduce_max(x) - reduce_min(x), x);
    CHECK(op_test::list(session().run(d, feed(x, std::vector<double>{3, 9, 1}))) == std::vector<double>{0, 1, -1});
}
