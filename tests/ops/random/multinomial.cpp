// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/random/multinomial.hpp>

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
