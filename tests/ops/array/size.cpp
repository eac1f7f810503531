// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/array/size.hpp>

#include "ops/harness.hpp"

using namespace rill;

namespace test_ops_array_size {

TEST_CASE("size: of typed tensors and others") {
    const graph g;
    const graph_scope here(g);
    const session s(g);
    placeholder<float, dyn, 3> x("x");
    static_assert(std::is_same_v<decltype(size(x)), tensor<int>>);
    static_assert(std::is_same_v<decltype(size<std::int64_t>(x)), tensor<std::int64_t>>);
    const xt::xtensor<float, 2> at({4, 3});
    CHECK(s.run(size(x), feed(x, at)) == 12);
    CHECK(op_test::difference<std::int64_t>(s.run(size<std::int64_t>(any_tensor(x)), feed(x, at)), {}, {12}) == "");
    CHECK(make_op("Size")->equals(*make_op(size_op{})));
}

} // namespace test_ops_array_size
