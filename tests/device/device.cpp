// SPDX-License-Identifier: BSD-3-Clause
#include <rill/device/device.hpp>

#include <algorithm>
#include <string>

#include "catch.hpp"

using namespace rill;

TEST_CASE("device: a step takes as long as its arithmetic, or as its start and its memory traffic") {
    device_type d;
    d.start_microseconds = 0.5;
    d.flops_per_microsecond = 100;
    d.bytes_per_microsecond = 10;
    CHECK(d.microseconds(0, 0) == 0.5);
    CHECK(d.microseconds(200, 0) == 2);
    CHECK(d.microseconds(200, 100) == 10.5);
}

namespace test_device {

inline const device_type& extra() {
    static const device_type type{"test_extra"};
    return type;
}

/// Puts the default back.
struct default_kept {
    std::string name = default_device().name;
    ~default_kept() { set_default_device(name); }
};

} // namespace test_device

TEST_CASE("device: the processor is always there, first, and in memory that the host reads") {
    CHECK(cpu_device().name == "cpu");
    CHECK(cpu_device().spaces.empty());
    CHECK(find_device("cpu") == &cpu_device());
    REQUIRE_FALSE(known_devices().empty());
    CHECK(known_devices()[0] == &cpu_device());
    CHECK(find_device("nowhere") == nullptr);
}

TEST_CASE("device: types of device become known once") {
    const auto& type = test_device::extra();
    register_device(type);
    CHECK_NOTHROW(register_device(type));
    CHECK(find_device("test_extra") == &type);
    const auto all = known_devices();
    CHECK(std::count(all.begin(), all.end(), &type) == 1);
    const device_type twin{"test_extra"};
    CHECK_THROWS_AS(register_device(twin), already_exists);
    CHECK_THROWS_WITH(register_device(twin), contains("'test_extra'"));
    CHECK(find_device("test_extra") == &type);
}

TEST_CASE("device: the one where nodes run that ask for none") {
    const test_device::default_kept kept;
    register_device(test_device::extra());
    CHECK(&default_device() == &cpu_device());
    set_default_device("test_extra");
    CHECK(&default_device() == &test_device::extra());
    CHECK_THROWS_AS(set_default_device("nowhere"), not_found);
    CHECK_THROWS_WITH(set_default_device("nowhere"), contains("'nowhere'"));
    CHECK(&default_device() == &test_device::extra());
}
