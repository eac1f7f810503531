// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/accumulator/accumulator_take_gradient.hpp>

#include <cstdint>
#include <limits>

#include <rill/ops/catalogue.hpp>
#include <rill/session/session.hpp>

#include "catch.hpp"

using namespace rill;

namespace test_ops_sync_accumulator_take_gradient {

TEST_CASE("accumulator_take_gradient: the number is a value, the shape that of what came") {
    const graph_scope here{graph()};
    const conditional_accumulator<float, dyn> sum("sum");
    placeholder<std::int64_t> n("n");
    placeholder<float, dyn> g("g");
    const tensor<float, dyn> mean = sum.take_grad(n);
    const operation put = sum.apply_grad(g, 100);
    const session s;
    s.run(put, feed(g, {1.f, 2.f, 3.f}));
    CHECK((s.run(mean, feed(n, 1)) == xt::xtensor<float, 1>{1.f, 2.f, 3.f}));
    s.run(put, feed(g, {1.f}));
    s.run(put, feed(g, {4.f}));
    CHECK((s.run(mean * 2.f, feed(n, 1)) == xt::xtensor<float, 1>{5.f})); // of both
}

TEST_CASE("accumulator_take_gradient: the mean of more than a narrow type counts") {
    const graph_scope here{graph()};
    const conditional_accumulator<std::uint8_t, 2> few("few");
    const conditional_accumulator<std::int8_t> below("below");
    const conditional_accumulator<int> wraps("wraps", {.reduction_type = "SUM"});
    const session s;
    for (int k = 0; k < 256; ++k) s.run(few.apply_grad(cast<std::uint8_t>(constant({k % 2, 0})), 0));
    CHECK((s.run(cast<int>(few.take_grad())) == xt::xtensor<int, 1>{0, 0})); // 128 of 256
    for (int k = 0; k < 300; ++k) s.run(below.apply_grad(cast<std::int8_t>(constant(k == 0 ? -100 : 0)), 0));
    CHECK(s.run(cast<int>(below.take_grad())) == 0);
    for (const int x : {std::numeric_limits<int>::max(), 1}) s.run(wraps.apply_grad(x, 0));
    CHECK(s.run(wraps.take_grad()) == std::numeric_limits<int>::min());
}

TEST_CASE("accumulator_take_gradient: of an accumulator whose gradients are others is refused, and it keeps them") {
    const graph_scope here{graph()};
    const conditional_accumulator<float, 2> sum("sum");
    const any_tensor handle(endpoint{current_graph().state().find("sum"), 0}),
        open = any_placeholder("open", dtype::int64);
    accumulator_take_gradient_op op;
    op.type = {dtype::float32, dims{3}};
    const any_tensor got = apply_node(op, std::source_location{}, open, constant(1));
    const session s;
    s.run(sum.apply_grad(constant({1.f, 2.f}), 0));
    CHECK_THROWS_WITH(s.run(got, feed(open, s.run(handle))), contains("float32 [2], not float32 [3]"));
    CHECK(s.run(sum.num_accumulated()) == 1);
}

} // namespace test_ops_sync_accumulator_take_gradient
