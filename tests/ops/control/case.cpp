// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/control/case.hpp>

#include <rill/ops/catalogue.hpp>
#include <rill/runtime/session.hpp>

#include "catch.hpp"

using namespace rill;

TEST_CASE("switch_case: by number, the last for all others, gradients") {
    const graph_scope here{graph()};
    placeholder<int> i("i");
    placeholder<float> x("x");
    const auto y = switch_case(i, [&] { return x; }, [&] { return x * x; }, [&] { return x * x * x; });
    const auto [d] = gradients(y, x);
    const session s;
    const float expected[]{1.f, 4.f, 12.f};
    for (const int k : {0, 1, 2, 7, -1}) CHECK(s.run(d, feed(i, k), feed(x, 2.f)) == expected[k < 0 || k > 2 ? 2 : k]);
    const any_tensor wide = any_placeholder("wide", dtype::int64, {});
    CHECK(s.run(switch_case(wide, [] { return 1; }, [] { return 2; }), feed("wide:0", std::int64_t(1) << 40)) == 2);
}

TEST_CASE("case_: the first condition that holds") {
    const graph_scope here{graph()};
    placeholder<float> x("x");
    const auto sign = case_(x > 0.f, [] { return 1; }, x < 0.f, [] { return -1; }, [] { return 0; });
    const session s;
    CHECK(s.run(sign, feed(x, 5.f)) == 1);
    CHECK(s.run(sign, feed(x, -5.f)) == -1);
    CHECK(s.run(sign, feed(x, 0.f)) == 0);
}
