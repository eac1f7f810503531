// SPDX-License-Identifier: BSD-3-Clause
#include <rill/device/cpu/simd/tanh_rows.hpp>

#include <cmath>

#include "catch.hpp"

using namespace rill;

TEST_CASE("tanh_rows: each polynomial begins with the tanh of its point") {
    for (int k = 0; k < 32; ++k)
        CHECK(detail::tanh_rows_of_16::rows[1][k] == Approx(std::tanh(detail::tanh_rows_of_16::rows[0][k])));
    for (int k = 0; k < 8; ++k)
        CHECK(detail::tanh_rows_of_8::rows[1][k] == Approx(std::tanh(detail::tanh_rows_of_8::rows[0][k])));
}
