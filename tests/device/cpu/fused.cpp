// SPDX-License-Identifier: BSD-3-Clause
#include <rill/device/cpu/fused.hpp>

#include <rill/ops/math/reduce_mean.hpp>
#include <rill/ops/math/reduce_sum.hpp>
#include <rill/ops/math/div.hpp>
#include <rill/ops/math/mul.hpp>
#include <rill/ops/array/placeholder.hpp>
#include <rill/runtime/session.hpp>

#include "catch.hpp"

using namespace rill;

TEST_CASE("fused: every way of stretching and reducing, against plain loops") {
    const graph g;
    const graph_scope here(g);
    placeholder<double, dyn, dyn, dyn> x("x");
    placeholder<double, dyn, 1, dyn> y("y");
    const auto product = x * y;
    const auto rows = reduce_sum<2>(product), middle = reduce_sum<1>(product), outer = reduce_mean<0>(product);
    const auto ends = reduce_sum<0, 2>(product);
    session s;
    for (const auto& [a, b, c] : {std::tuple<std::size_t, std::size_t, std::size_t>{2, 3, 4}, {1, 5, 1}, {7, 40, 50}, {3, 2, 1500}, {1, 1, 1}}) {
        xt::xtensor<double, 3> xv({a, b, c}), yv({a, 1, c});
        for (std::size_t i = 0; i < xv.size(); ++i) xv.storage()[i] = static_cast<double>(i % 11) - 4;
        for (std::size_t i = 0; i < yv.size(); ++i) yv.storage()[i] = static_cast<double>(i % 5) - 1;
        xt::xtensor<double, 2> rv({a, b}, 0.0), mv({a, c}, 0.0), ov({b, c}, 0.0);
        xt::xtensor<double, 1> ev({b}, 0.0);
        for (std::size_t i = 0; i < a; ++i)
            for (std::size_t j = 0; j < b; ++j)
                for (std::size_t k = 0; k < c; ++k) {
                    const double p = xv(i, j, k) * yv(i, 0, k);
                    rv(i, j) += p, mv(i, k) += p, ov(j, k) += p / static_cast<double>(a), ev(j) += p;
                }
        const auto [r, m, o, e] = s.run(std::tuple(rows, middle, outer, ends), feed(x, xv), feed(y, yv));
        const auto close = [](const auto& got, const auto& wanted) {
            REQUIRE(got.size() == wanted.size());
            for (std::size_t i = 0; i < got.size(); ++i) REQUIRE(got.storage()[i] == Approx(wanted.storage()[i]).margin(1e-9));
        };
        close(r, rv);
        close(m, mv);
        close(o, ov);
        close(e, ev);
    }
}

TEST_CASE("fused: integer division by zero is reported, also in a later block") {
    const graph g;
    const graph_scope here(g);
    placeholder<int, dyn> a("a"), b("b");
    tensor q = a / b;
    session s;
    std::vector<int> as(3000, 6), bs(3000, 2);
    CHECK(s.run(q, feed(a, as), feed(b, bs))(2999) == 3);
    bs[2500] = 0;
    CHECK_THROWS_AS(s.run(q, feed(a, as), feed(b, bs)), invalid_argument);
    bs[2500] = 3;
    CHECK(s.run(q, feed(a, as), feed(b, bs))(2500) == 2); // the session goes on
}
