// SPDX-License-Identifier: BSD-3-Clause
#include <rill/runtime/region_kernel.hpp>

#include <rill/ops/catalogue.hpp>
#include <rill/session/session.hpp>
#include <rill/train/initializers.hpp>

#include "catch.hpp"

using namespace rill;

TEST_CASE("region_kernel: bodies on several threads give the same") {
    const graph_scope here{graph()};
    placeholder<float, 300, 300> x("x");
    const auto [k, y] =
        while_loop([](auto i, auto) { return i < 5; },
                   [&](auto i, auto h) { return std::tuple(i + 1, tanh(matmul(h, x) * 0.01f) + x); }, 0, x);
    const auto [d] = gradients(reduce_sum(y), x);
    xt::xtensor<float, 2> in({300, 300});
    for (std::size_t i = 0; i < in.size(); ++i) in.data()[i] = static_cast<float>(i % 13) - 6.f;
    const session one({.inter_op_threads = 0, .intra_op_threads = 0}),
        three({.inter_op_threads = 3, .intra_op_threads = 3});
    CHECK((one.run(std::tuple(y, d), feed(x, in)) == three.run(std::tuple(y, d), feed(x, in))));
}
