// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/array/tensor_array_write.hpp>

#include <rill/ops/catalogue.hpp>
#include <rill/session/session.hpp>

#include "catch.hpp"

using namespace rill;

TEST_CASE("tensor_array_write: slices where ids say, the last of equal ids") {
    const graph_scope here{graph()};
    placeholder<float, dyn, 2> x("x"), v("v");
    placeholder<std::int64_t, dyn> ids("ids");
    const any_tensor y = apply_node(tensor_array_write_op{}, std::source_location::current(), x, ids, v);
    const session s;
    const auto out =
        s.run(tensor<float, dyn, 2>(y), feed(x, {{1.f, 2.f}, {3.f, 4.f}, {5.f, 6.f}}),
              feed(ids, std::vector<std::int64_t>{2, 0, 2}), feed(v, {{7.f, 7.f}, {8.f, 8.f}, {9.f, 9.f}}));
    CHECK(out(0, 0) == 8.f);
    CHECK(out(1, 1) == 4.f);
    CHECK(out(2, 0) == 9.f);
    CHECK_THROWS_AS(apply_node(tensor_array_write_op{}, std::source_location::current(), x, v, v), invalid_argument);
}

TEST_CASE("tensor_array_write: in place where the tensor ends, and never over the slices") {
    const graph_scope here{graph()};
    placeholder<float, dyn> x("x");
    placeholder<int, dyn> ids("ids");
    const tensor a = x * 2.f, v = exp(x * 0.f); // both end in the write, and have its shape
    const any_tensor y = apply_node(tensor_array_write_op{}, std::source_location::current(), a, ids, v);
    const session s;
    const auto out = s.run(tensor<float, dyn>(y), feed(x, {1.f, 2.f, 3.f}), feed(ids, {0, 0, 2}));
    CHECK(out(0) == 1.f);
    CHECK(out(1) == 4.f);
    CHECK(out(2) == 1.f);
    // the tensor is needed after it
    const auto [w, sum] =
        s.run(std::tuple(tensor<float, dyn>(y), tensor(reduce_sum(a))), feed(x, {1.f, 2.f, 3.f}), feed(ids, {0, 0, 2}));
    CHECK(sum == 12.f);
    CHECK(w(0) == 1.f);
}

TEST_CASE("tensor_array_write: of its own slices") {
    const graph_scope here{graph()};
    placeholder<float, dyn> x("x");
    const tensor a = x * 2.f; // ends in the write, which reads it while it changes it
    const any_tensor y =
        apply_node(tensor_array_write_op{}, std::source_location::current(), a, constant({2, 0, 1}), a);
    const auto out = session().run(tensor<float, dyn>(y), feed(x, {1.f, 2.f, 3.f}));
    CHECK(out(0) == 4.f);
    CHECK(out(1) == 6.f);
    CHECK(out(2) == 2.f);
}

TEST_CASE("tensor_array_write: gradient, of two orders") {
    const graph_scope here{graph()};
    placeholder<double, dyn> x("x"), v("v");
    const auto ids = constant({2, 0});
    const tensor<double, dyn> y(apply_node(tensor_array_write_op{}, std::source_location::current(), x, ids, v));
    const auto [dx, dv] = gradients(reduce_sum(y * y * y), x, v);
    const auto [dxx, dvv] = gradients(reduce_sum(dx) + reduce_sum(dv), x, v);
    const session s;
    const auto [gx, gv, hx, hv] = s.run(std::tuple(dx, dv, dxx, dvv), feed(x, {1., 2., 3., 4.}), feed(v, {5., 6.}));
    CHECK((gx == xt::xtensor<double, 1>{0., 12., 0., 48.}));
    CHECK((gv == xt::xtensor<double, 1>{75., 108.}));
    CHECK((hx == xt::xtensor<double, 1>{0., 12., 0., 24.}));
    CHECK((hv == xt::xtensor<double, 1>{30., 36.}));
}
