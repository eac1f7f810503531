// SPDX-License-Identifier: BSD-3-Clause
#include <rill/eager/value_and_grad.hpp>

#include <rill/ops/math/add.hpp>
#include <rill/ops/math/mul.hpp>
#include <rill/ops/math/reduce_sum.hpp>
#include <rill/ops/math/square.hpp>

#include "catch.hpp"

using namespace rill;

TEST_CASE("value_and_grad: by the first argument, traced once per argument types") {
    int traced = 0;
    auto f = value_and_grad([&traced](auto w, auto x) {
        ++traced;
        return reduce_sum(square(w * x));
    });
    const xt::xtensor<float, 1> w{1.f, 2.f}, x{3.f, 4.f};
    for (int i = 0; i < 3; ++i) {
        const auto [value, dw] = f(w, x);
        CHECK(value == Approx(9 + 64));
        CHECK(dw(0) == Approx(18));
        CHECK(dw(1) == Approx(64));
    }
    CHECK(traced == 1);
    const auto [longer, d3] =
        f(xt::xtensor<float, 1>{1.f, 1.f, 1.f}, xt::xtensor<float, 1>{1.f, 2.f, 3.f}); // another shape, the same trace
    CHECK(longer == Approx(14));
    CHECK(d3(2) == Approx(18));
    CHECK(traced == 1);
    const auto [scalar, dscalar] = f(2.0, 3.0);
    CHECK(scalar == Approx(36));
    CHECK(dscalar == Approx(36));
    CHECK(traced == 2);
    const auto [of_constants, dc] = f(constant({1.f, 2.f}), constant({3.f, 4.f}));
    CHECK(of_constants == Approx(73));
    CHECK(dc(0) == Approx(18));
}

TEST_CASE("value_and_grad: by several arguments, of variables without a session too") {
    const auto f = value_and_grad<2>([](auto w, auto b, auto x) { return reduce_sum(square(w * x + b)); });
    const eager_variable<float, 2> w("w", {1, 2});
    const xt::xtensor<float, 1> x{3, 4};
    const auto [value, dw, db] = f(w, 1.f, x);
    CHECK(value == Approx(16 + 81));
    CHECK(dw(0) == Approx(24));
    CHECK(dw(1) == Approx(72));
    CHECK(db == Approx(26));
    w.assign({0, 0});
    CHECK(std::get<0>(f(w, 1.f, x)) == Approx(2));
}
