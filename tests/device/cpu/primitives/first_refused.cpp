// SPDX-License-Identifier: BSD-3-Clause
#include <rill/device/cpu/primitives/first_refused.hpp>

#include <limits>
#include <vector>

#include <rill/core/half.hpp>
#include <rill/device/primitives.hpp>

#include "catch.hpp"

using namespace rill;

TEST_CASE("first_refused: the first id outside") {
    const auto first = [](const auto& ids, std::size_t n, index_t extent) {
        using I = typename std::remove_cvref_t<decltype(ids)>::value_type;
        return first_refused(ids.data(), static_cast<index_t>(n), index_inside<I>(extent));
    };
    const std::vector<int> ids{0, 4, 3, 5, -1};
    CHECK(first(ids, 5, 6) == 4);
    CHECK(first(ids, 5, 5) == 3);
    CHECK(first(ids, 4, 6) == -1);
    CHECK(first(ids, 0, 0) == -1);
    CHECK(first(ids, 1, 0) == 0);
    const std::vector<int> large{0, std::numeric_limits<int>::max(), std::numeric_limits<int>::min()};
    CHECK(first(large, 3, index_t(1) << 40) == 2); // an extent that no id reaches
    const std::vector<std::int64_t> wide{0, std::int64_t(1) << 33, -1};
    CHECK(first(wide, 3, index_t(1) << 40) == 2);
    CHECK(first(wide, 3, index_t(1) << 33) == 1);
}

TEST_CASE("first_refused: the first number that is not finite") {
    const double infinity = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
    CHECK(first_refused(std::vector{1., 2., -3.}.data(), 3, finite_number{}) == -1);
    CHECK(first_refused(std::vector{1., nan, infinity}.data(), 3, finite_number{}) == 1);
    CHECK(first_refused(std::vector{-infinity, nan}.data(), 2, finite_number{}) == 0);
    CHECK(first_refused(std::vector{half(65504.f), half(65536.f)}.data(), 2, finite_number{}) == 1);
}
