// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/math/logical_not.hpp>

#include "ops/harness.hpp"

using namespace rill;

TEST_CASE("logical_not: values") {
    op_test::unary<bool>("logical_not", [](const auto& x) { return logical_not(x); }, [](bool x) { return !x; });
}
