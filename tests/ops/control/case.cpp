// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/control/case.hpp>

#include <rill/ops/catalogue.hpp>
#include <rill/session/session.hpp>

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

TEST_CASE("switch_case: gradients through nodes of two and three branches that one number chooses") {
    const graph_scope here{graph()};
    const placeholder<int> i("i");
    const placeholder<float> x("x");
    const tensor of_two = switch_case(i, [&] { return x * 1.f; }, [&] { return x * x; });
    const tensor of_three =
        switch_case(i, [&] { return of_two * 2.f; }, [&] { return of_two * 3.f; }, [&] { return of_two * of_two; });
    const auto [d] = gradients(of_three, x);
    const auto [d2] = gradients(d, x);
    const session s;
    const auto at = [&](int which) { return s.run(std::tuple(d, d2), feed(x, 2.f), feed(i, which)); };
    CHECK(at(0) == std::tuple(2.f, 0.f));
    CHECK(at(1) == std::tuple(12.f, 6.f));
    CHECK(at(2) == std::tuple(32.f, 48.f)); // of x^4
}
