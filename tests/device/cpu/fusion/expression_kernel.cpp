// SPDX-License-Identifier: BSD-3-Clause
#include <rill/device/cpu/fusion/expression_kernel.hpp>

#include <rill/ops/math/add.hpp>
#include <rill/ops/math/mul.hpp>

#include <vector>

#include "catch.hpp"

using namespace rill;

TEST_CASE("expression_kernel: forward and both adjoints, with tails") {
    using s = structure<add_op, float, structure<mul_op, float, leaf<float>, leaf<float>>, scalar_leaf<float>>;
    require_expression<s>();
    const auto k = the_kernels().blocks.find(key_of<s>());
    REQUIRE(k);
    REQUIRE(k->adjoint);
    for (const std::size_t n : {1u, 3u, 16u, 37u, 256u}) {
        std::vector<float> a(n), b(n), g(n), out(n), da(n), db(n);
        for (std::size_t i = 0; i < n; ++i)
            a[i] = static_cast<float>(i) + 1, b[i] = 2 - static_cast<float>(i), g[i] = 3;
        const float one = 1;
        const void *leaves[] = {a.data(), b.data(), g.data()}, *scalars[] = {&one};
        void* result[] = {out.data(), nullptr};
        k->forward({leaves, scalars, result, nullptr, static_cast<std::int64_t>(n)});
        const std::uint32_t apart[] = {1, 2}, together[] = {3, 2};
        void* both[] = {da.data(), db.data()};
        k->adjoint({leaves, scalars, both, apart, static_cast<std::int64_t>(n)});
        for (std::size_t i = 0; i < n; ++i) {
            REQUIRE(out[i] == a[i] * b[i] + 1);
            REQUIRE(da[i] == 3 * b[i]);
            REQUIRE(db[i] == 3 * a[i]);
        }
        void* sum[] = {da.data(), nullptr}; // the two leaves are one handle
        k->adjoint({leaves, scalars, sum, together, static_cast<std::int64_t>(n)});
        for (std::size_t i = 0; i < n; ++i) REQUIRE(da[i] == 3 * b[i] + 3 * a[i]);
        REQUIRE(k->adjoint_of_one);
        k->adjoint_of_one({leaves, scalars, sum, together, static_cast<std::int64_t>(n)});
        for (std::size_t i = 0; i < n; ++i) REQUIRE(da[i] == 3 * b[i] + 3 * a[i]);
    }
}
