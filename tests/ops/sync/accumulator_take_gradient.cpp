// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/sync/accumulator_take_gradient.hpp>

#include <rill/ops/catalogue.hpp>
#include <rill/runtime/session.hpp>

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

} // namespace test_ops_sync_accumulator_take_gradient
