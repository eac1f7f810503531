// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/math/angle.hpp>

#include "ops/math/complex_test.hpp"

using namespace rill;

TEST_CASE("angle: values and gradient, typed and untyped") {
    complex_test::of_complex([](const auto& z) { return angle(z); }, [](const auto& z) { return std::arg(z); });
}
