// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/random/multinomial.hpp>

#include <rill/ops/array/size.hpp>
#include <rill/ops/math/cast.hpp>

#include "ops/harness.hpp"

using namespace rill;

TEST_CASE("multinomial: classes as often as their logits say") {
    const graph g;
    const graph_scope here(g);
    placeholder<float, dyn, 3> logits("logits");
    const auto drawn = multinomial<20000>(logits, {.seed = 5});
    static_assert(std::is_same_v<decltype(drawn), const tensor<std::int64_t, dyn, 20000>>);
    const session s(g);
    const float never = -std::numeric_limits<float>::infinity();
    const xt::xtensor<float, 2> at{{std::log(0.2f), std::log(0.5f), std::log(0.3f)}, {100, never, 100}};
    const auto ids = s.run(drawn, feed(logits, at));
    std::array<std::array<int, 3>, 2> count{};
    for (std::size_t row = 0; row < 2; ++row)
        for (std::size_t i = 0; i < 20000; ++i) ++count[row][static_cast<std::size_t>(ids(row, i))];
    CHECK(count[0][0] == Approx(4000).margin(300)); // five deviations of 57 and more
    CHECK(count[0][1] == Approx(10000).margin(400));
    CHECK(count[1][0] == Approx(10000).margin(400));
    CHECK(count[1][1] == 0);
    CHECK(s.run(multinomial<2>(any_tensor(logits)), feed(logits, at)).type() == tensor_type{dtype::int64, {2, 2}});
    CHECK(op_test::list(ids) != op_test::list(s.run(drawn, feed(logits, at)))); // drawn anew
}

TEST_CASE("multinomial: numbers of draws known at run time") {
    const graph g;
    const graph_scope here(g);
    placeholder<float, dyn, 3> logits("logits");
    placeholder<float, dyn> x("x");
    const any_tensor by_number = multinomial(logits, 4, {.seed = 5});
    const auto by_tensor = multinomial(logits, size(x), {.seed = 5});
    static_assert(std::is_same_v<decltype(by_tensor), const tensor<std::int64_t, dyn, dyn>>);
    const session s(g), t(g);
    const xt::xtensor<float, 2> at({2, 3}, 0.f);
    const auto four = op_test::list(s.run(by_tensor, feed(logits, at), feed(x, std::vector<float>(4))));
    CHECK(four.size() == 8);
    CHECK(op_test::difference<std::int64_t>(s.run(by_number, feed(logits, at)), {2, 4}, four) == "");
    CHECK(op_test::list(t.run(multinomial<4>(logits, {.seed = 5}), feed(logits, at))) == four);
    CHECK(s.run(by_tensor, feed(logits, at), feed(x, std::vector<float>())).size() == 0);
    placeholder<int> n("n");
    CHECK_THROWS_WITH(s.run(multinomial(logits, n), feed(logits, at), feed(n, -1)),
                      contains("the number of draws is negative"));
    CHECK(s.run(multinomial(any_tensor(logits), n), feed(logits, at), feed(n, 3)).shape() == dims{2, 3});
    CHECK_THROWS_WITH(multinomial(logits, -1),
                      contains("multinomial: the number of draws is negative") && contains("multinomial.cpp"));
    CHECK_THROWS_WITH(multinomial<2>(any_placeholder("v", dtype::float32, {3})),
                      contains("multinomial: a tensor of rank 2 is expected, not of rank 1"));
}

TEST_CASE("multinomial: halves, and rows without a class to draw") {
    const graph g;
    const graph_scope here(g);
    const float never = -std::numeric_limits<float>::infinity();
    placeholder<float, dyn, 2> logits("logits");
    const auto drawn = multinomial<1000>(cast<bfloat16>(logits), {.seed = 5});
    const session s(g);
    const auto ids = op_test::list(s.run(drawn, feed(logits, {{never, 0.f}})));
    CHECK(std::count(ids.begin(), ids.end(), 0) == 0); // of probability 0
    CHECK_THROWS_AS(s.run(drawn, feed(logits, {{0.f, 0.f}, {never, never}})), invalid_argument);
    CHECK_THROWS_WITH(s.run(drawn, feed(logits, {{0.f, 0.f}, {never, never}})),
                      contains("multinomial") &&
                          contains("row 1 of the logits gives no class a probability: all of it is -inf"));
    CHECK_THROWS_WITH(s.run(drawn, feed(logits, {{std::nanf(""), 0.f}})), contains("row 0 of the logits holds a NaN"));
}
