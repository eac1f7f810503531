// SPDX-License-Identifier: BSD-3-Clause
#include <rill/device/block.hpp>

#include "catch.hpp"

using namespace rill;

TEST_CASE("block: a few operands of a block fit into the first-level cache") {
    static_assert(block_elements % 64 == 0, "whole registers of every dtype");
    CHECK(block_elements * sizeof(float) * 4 <= 32 * 1024);
    const block_args args{nullptr, nullptr, nullptr, nullptr, 7};
    CHECK(args.n == 7);
}
