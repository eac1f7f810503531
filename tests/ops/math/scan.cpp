// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/math/scan.hpp>

#include "catch.hpp"

using namespace rill;

TEST_CASE("scan: keeps the shape, along an axis that exists") {
    const detail::running last{-1, {}}, third{2, {}};
    CHECK(last.shape(dims{2, dyn}).shape == dims{2, dyn});
    CHECK(last.shape(dims{2, dyn}).ok());
    CHECK_FALSE(third.shape(dims{2, dyn}).ok());
    CHECK(third.shape(dims::unknown()).ok());
}
