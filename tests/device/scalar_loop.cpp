// SPDX-License-Identifier: BSD-3-Clause
#include <rill/device/scalar_loop.hpp>

#include <rill/device/kernel_registry.hpp>
#include <rill/expr/fused_op.hpp>

#include "catch.hpp"

using namespace rill;

TEST_CASE("scalar_loop: the processor has a kernel of loops") {
    detail::require_fused();
    CHECK(find_kernel("cpu", scalar_loop::name, dtype::invalid));
    const scalar_loop empty;
    CHECK(empty.next.empty());
    CHECK_FALSE(empty.conditional);
    const scalar_loop two{.group = {}, .inputs = {}, .slices = 1, .next = {{-1, 1}, {-1, 0}}, .stacked = {}};
    CHECK(two.parts() == 2);
    CHECK_FALSE(two.is_invariant(2)); // a slice
    CHECK(two.is_invariant(3));
}
