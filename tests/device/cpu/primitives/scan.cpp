// SPDX-License-Identifier: BSD-3-Clause
#include <rill/device/cpu/primitives/scan.hpp>

#include <vector>

#include <rill/core/half.hpp>

#include "catch.hpp"

using namespace rill;

namespace test_device_cpu_scan {

template <combine How, class T>
std::vector<T> running(const std::vector<T>& x, index_t outer, index_t extent, index_t inner, bool exclusive = false,
                       bool reverse = false) {
    std::vector<T> to(x.size());
    running_values<How>(x.data(), to.data(), outer, extent, inner, exclusive, reverse);
    return to;
}

TEST_CASE("scan: both ways, with the element and without") {
    const std::vector<int> x{1, 2, 3, 4};
    CHECK(running<combine::sum>(x, 1, 4, 1) == std::vector<int>{1, 3, 6, 10});
    CHECK(running<combine::sum>(x, 1, 4, 1, true) == std::vector<int>{0, 1, 3, 6});
    CHECK(running<combine::sum>(x, 1, 4, 1, false, true) == std::vector<int>{10, 9, 7, 4});
    CHECK(running<combine::prod>(x, 1, 4, 1, true, true) == std::vector<int>{24, 12, 4, 1});
    CHECK(running<combine::sum>(x, 2, 2, 1) == std::vector<int>{1, 3, 3, 7});
    CHECK(running<combine::prod>(x, 1, 2, 2) == std::vector<int>{1, 2, 3, 8});
    CHECK(running<combine::sum>(std::vector<int>{}, 0, 4, 1).empty());
}

TEST_CASE("scan: more columns than run side by side, and integers that wrap") {
    std::vector<double> wide(600, 1.);
    const auto sums = running<combine::sum>(wide, 1, 2, 300);
    CHECK(sums[299] == 1.);
    CHECK(sums[300] == 2.);
    CHECK(sums[599] == 2.);
    const int most = std::numeric_limits<int>::max();
    CHECK(running<combine::sum>(std::vector<int>{most, 1}, 1, 2, 1)[1] == std::numeric_limits<int>::min());
}

TEST_CASE("scan: linear recurrences, the first factor of which does not count") {
    const auto inf = std::numeric_limits<float>::infinity();
    const std::vector<float> factors{inf, 2, 3}, terms{1, 5, 7};
    std::vector<float> to(3);
    linear_recurrence(factors.data(), terms.data(), to.data(), 1, 3, 1, false);
    CHECK(to == std::vector<float>{0, 1, 7});
    linear_recurrence(factors.data(), terms.data(), to.data(), 1, 3, 1, true);
    CHECK(to == std::vector<float>{19, 7, 0});
    linear_recurrence(factors.data() + 1, terms.data(), to.data(), 1, 1, 2, true); // two columns of one element
    CHECK(to == std::vector<float>{0, 0, 0});
    const std::vector<float> fresh{1, 1, 0, 2}, more{inf, 1, 4, 1};
    to.resize(4);
    linear_recurrence(fresh.data(), more.data(), to.data(), 1, 4, 1, false);
    CHECK(to == std::vector<float>{0, inf, inf, 4}); // 0 times infinity is a new start
}

TEST_CASE("scan: halves are added up in float") {
    std::vector<half> ones(3000, half(1.f));
    CHECK(static_cast<float>(running<combine::sum>(ones, 1, 3000, 1).back()) == 3000.f); // a half stops at 2048
}

} // namespace test_device_cpu_scan
