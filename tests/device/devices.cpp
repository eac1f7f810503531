// SPDX-License-Identifier: BSD-3-Clause
#include <rill/device/devices.hpp>

#include <string>
#include <vector>

#include <rill/device/primitives.hpp>

#include "catch.hpp"

using namespace rill;

namespace test_devices {
struct first {
    static constexpr std::string_view type = "first";
};
struct second {
    static constexpr std::string_view type = "second";
};
} // namespace test_devices

TEST_CASE("devices: a file compiles for the CPU, and every device that it compiles for is one") {
    std::vector<std::string> types;
    devices::each([&]<class D>(std::type_identity<D>) {
        STATIC_REQUIRE(device_primitives<D>);
        types.emplace_back(D::type);
    });
    REQUIRE_FALSE(types.empty());
    CHECK(types[0] == "cpu");
}

TEST_CASE("devices: a list is walked in order") {
    std::vector<std::string> types;
    device_list<test_devices::first, test_devices::second>::each(
        [&]<class D>(std::type_identity<D>) { types.emplace_back(D::type); });
    CHECK(types == std::vector<std::string>{"first", "second"});
    device_list<>::each([](auto) { FAIL("there is none"); });
}
