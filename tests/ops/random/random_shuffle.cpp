// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/random/random_shuffle.hpp>

#include "ops/harness.hpp"

using namespace rill;

namespace test_random_shuffle {

TEST_CASE("random_shuffle: rows stay whole, none is lost") {
    const graph g;
    const graph_scope here(g);
    placeholder<float, dyn, 2> x("x");
    const auto y = random_shuffle(x, {.seed = 7});
    static_assert(std::is_same_v<decltype(y), const tensor<float, dyn, 2>>);
    const session s(g), t(g);
    xt::xtensor<float, 2> rows({100, 2});
    for (std::size_t i = 0; i < 100; ++i) rows(i, 0) = rows(i, 1) = static_cast<float>(i);
    const auto first = s.run(y, feed(x, rows)), second = s.run(y, feed(x, rows));
    CHECK(op_test::list(first) != op_test::list(second));
    CHECK(op_test::list(first) != op_test::list(rows));
    CHECK(op_test::list(t.run(y, feed(x, rows))) == op_test::list(first)); // each session counts its own runs
    std::vector<float> keys;
    for (std::size_t i = 0; i < 100; ++i) {
        CHECK(first(i, 0) == first(i, 1));
        keys.push_back(first(i, 0));
    }
    std::sort(keys.begin(), keys.end());
    for (std::size_t i = 0; i < 100; ++i) CHECK(keys[i] == static_cast<float>(i));
    CHECK(s.run(random_shuffle(constant({std::string("a")})))(0) == "a");
    CHECK(s.run(y, feed(x, xt::xtensor<float, 2>({0, 2}))).size() == 0);
    CHECK_THROWS_WITH(random_shuffle(any_tensor(tensor(constant(1)))), contains("random_shuffle: there is no axis"));
}

} // namespace test_random_shuffle
