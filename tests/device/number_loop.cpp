// SPDX-License-Identifier: BSD-3-Clause
#include <rill/device/number_loop.hpp>

#include <rill/device/registry.hpp>
#include <rill/expr/fused_op.hpp>

#include "catch.hpp"

using namespace rill;

TEST_CASE("number_loop: the processor has a kernel of loops") {
    detail::require_fused();
    CHECK(find_kernel("cpu", number_loop::name, dtype::invalid));
    const number_loop empty;
    CHECK(empty.next.empty());
    CHECK_FALSE(empty.conditional);
}
