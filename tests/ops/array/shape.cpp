// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/array/shape.hpp>

#include <rill/ops/array/reshape.hpp>
#include <rill/ops/math/cast.hpp>
#include <rill/ops/math/mul.hpp>

#include "ops/harness.hpp"

using namespace rill;

namespace test_ops_array_shape {

static_assert(std::is_same_v<decltype(shape(std::declval<tensor<float, 2, dyn>>())), tensor<int, 2>>);
static_assert(std::is_same_v<decltype(shape<std::int64_t>(std::declval<tensor<float>>())), tensor<std::int64_t, 0>>);

TEST_CASE("shape: the extents of a run") {
    const graph g;
    const graph_scope here(g);
    const session s(g);
    placeholder<float, dyn, 3> x("x");
    const any_tensor any = any_placeholder("any", dtype::string);
    CHECK(op_test::list(s.run(shape(x), feed(x, xt::xtensor<float, 2>({4, 3})))) == std::vector<int>{4, 3});
    CHECK(op_test::list(s.run(shape(x * x), feed(x, xt::xtensor<float, 2>({0, 3})))) == std::vector<int>{0, 3});
    CHECK(op_test::difference<int>(s.run(shape(any), feed(any, std::string("a"))), {0}, {}) == "");
    CHECK(op_test::difference<std::int64_t>(
              s.run(shape<std::int64_t>(any_tensor(x)), feed(x, xt::xtensor<float, 2>({1, 3}))), {2}, {1, 3}) == "");
    const auto none = gradients({reshape(x, shape(x))}, {x}); // through the tensor, not through the shape
    REQUIRE(none[0]);
    CHECK_FALSE(gradients({any_tensor(tensor(cast<float>(shape(x))))}, {x})[0]);
}

TEST_CASE("shape: made by name, its fields read back") {
    const op_ptr made = make_op(shape_op{{dtype::int64}});
    CHECK(make_op("Shape", 1, bytes_of_fields(*made))->equals(*made));
    CHECK_FALSE(make_op("Shape")->equals(*made));
}

} // namespace test_ops_array_shape
