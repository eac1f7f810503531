// SPDX-License-Identifier: BSD-3-Clause
#include <rill/device/product_epilogue.hpp>

#include "catch.hpp"

using namespace rill;

TEST_CASE("product_epilogue: of columns from some on") {
    const float row[] = {1, 2, 3};
    const product_epilogue<float> none, both{row, true}, rectified{nullptr, true};
    CHECK(none.empty());
    CHECK_FALSE(both.empty());
    CHECK_FALSE(rectified.empty());
    CHECK(both.from_column(2).row == row + 2);
    CHECK(both.from_column(2).rectified);
    CHECK(rectified.from_column(2).row == nullptr);
}
