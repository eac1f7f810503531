// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/math/cumsum.hpp>

#include "ops/math/scan_test.hpp"

using namespace rill;

namespace test_cumsum {

static_assert(std::is_same_v<decltype(cumsum<-1>(std::declval<tensor<float, 2, dyn>>())), tensor<float, 2, dyn>>);

struct op {
    static constexpr int first = 0;
    static auto join(auto a, auto b) { return a + b; }
    static auto run(const auto& x, const cumulative_options& how) { return cumsum<1>(x, how); }
};

TEST_CASE("cumsum: values and gradients, to second order") { scan_test::values_and_gradients<op>(); }

TEST_CASE("cumsum: at run time") {
    const graph g;
    const graph_scope here(g);
    const session s(g);
    const tensor c = constant({{1, 2}, {3, 4}});
    CHECK(op_test::difference<int>(s.run(any_tensor(cumsum(c, -1))), {2, 2}, {1, 3, 3, 7}) == "");
    CHECK(s.run(cumsum(c, 0, {.exclusive = true}))(1, 0) == 1);
    CHECK_THROWS_WITH(cumsum(c, 2), contains("cumsum: the axis is out of range") && contains("[2, 2]"));
    const op_ptr made = make_op(cumsum_op{{1, {.reverse = true}}});
    CHECK(make_op("Cumsum", 1, bytes_of_fields(*made))->equals(*made));
    CHECK_FALSE(make_op("Cumsum")->equals(*made));
}

TEST_CASE("cumsum: complex numbers, and their gradients") { scan_test::check<op, std::complex<double>>({2, 3, 2}, {}); }

} // namespace test_cumsum
