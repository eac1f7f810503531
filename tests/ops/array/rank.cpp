// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/array/rank.hpp>

#include "ops/harness.hpp"

using namespace rill;

namespace test_ops_array_rank {

TEST_CASE("rank: of typed tensors and others") {
    const graph g;
    const graph_scope here(g);
    const session s(g);
    placeholder<float, dyn, 3> x("x");
    static_assert(std::is_same_v<decltype(rank(x)), tensor<int>>);
    static_assert(std::is_same_v<decltype(rank<std::int64_t>(x)), tensor<std::int64_t>>);
    const xt::xtensor<float, 2> at({4, 3});
    CHECK(s.run(rank(x), feed(x, at)) == 2);
    CHECK(op_test::difference<std::int64_t>(s.run(rank<std::int64_t>(any_tensor(x)), feed(x, at)), {}, {2}) == "");
    CHECK(make_op("Rank")->equals(*make_op(rank_op{})));
}

} // namespace test_ops_array_rank
