// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/array/unique.hpp>

#include <rill/ops/catalogue.hpp>
#include <rill/session/session.hpp>

#include "catch.hpp"

using namespace rill;

TEST_CASE("unique: what differs, in order, and which is which") {
    const graph_scope here{graph()};
    placeholder<int, dyn> x("x");
    const auto [values, numbers] = unique(x);
    const session s;
    const std::vector<int> in{1, 1, 2, 4, 4, 4, 7, 8, 8, 1};
    const auto [v, n] = s.run(std::tuple(values, numbers), feed(x, in));
    CHECK((v == xt::xtensor<int, 1>{1, 2, 4, 7, 8}));
    CHECK((n == xt::xtensor<int, 1>{0, 0, 1, 2, 2, 2, 3, 4, 4, 0}));
    CHECK(s.run(gather(values, numbers), feed(x, in))(9) == 1);
    CHECK(s.run(values, feed(x, std::vector<int>{})).size() == 0);
    CHECK(s.run(unique(constant({std::string("b"), std::string("a"), std::string("b")})).first)(1) == "a");
    CHECK_THROWS_WITH(unique(any_tensor(constant({{1, 2}}))), contains("rank 1"));
}
