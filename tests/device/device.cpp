// SPDX-License-Identifier: BSD-3-Clause
#include <rill/device/device.hpp>

#include <algorithm>
#include <cstring>
#include <vector>

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

/// "Its memory": what is in there has every bit flipped, so that a byte read by the wrong side shows.
inline void flipped(const void* from, void* to, std::size_t n) {
    for (std::size_t i = 0; i < n; ++i)
        static_cast<unsigned char*>(to)[i] = static_cast<unsigned char>(~static_cast<const unsigned char*>(from)[i]);
}
inline void plain(const void* from, void* to, std::size_t n) { std::memcpy(to, from, n); }

inline const device_type& flipping() {
    static const device_type type{"test_flipping", false, nullptr, &flipped, &flipped, &plain};
    return type;
}

/// Another one, whose memory is as it is.
inline const device_type& another() {
    static const device_type type{"test_another", false, nullptr, &plain, &plain, &plain};
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
    CHECK(cpu_device().host_memory);
    CHECK(find_device("cpu") == &cpu_device());
    REQUIRE_FALSE(known_devices().empty());
    CHECK(known_devices()[0] == &cpu_device());
    CHECK(find_device("nowhere") == nullptr);
}

TEST_CASE("device: types of device become known once") {
    const auto& type = test_device::flipping();
    register_device(type);
    CHECK_NOTHROW(register_device(type));
    CHECK(find_device("test_flipping") == &type);
    const auto all = known_devices();
    CHECK(std::count(all.begin(), all.end(), &type) == 1);
    const device_type twin{"test_flipping"};
    CHECK_THROWS_AS(register_device(twin), already_exists);
    CHECK_THROWS_WITH(register_device(twin), contains("'test_flipping'"));
    CHECK(find_device("test_flipping") == &type);
}

TEST_CASE("device: the one where nodes run that ask for none") {
    const test_device::default_kept kept;
    register_device(test_device::flipping());
    CHECK(&default_device() == &cpu_device());
    set_default_device("test_flipping");
    CHECK(&default_device() == &test_device::flipping());
    CHECK_THROWS_AS(set_default_device("nowhere"), not_found);
    CHECK_THROWS_WITH(set_default_device("nowhere"), contains("'nowhere'"));
    CHECK(&default_device() == &test_device::flipping());
}

TEST_CASE("device: elements are copied between memories by whoever has one of its own") {
    const auto& there = test_device::flipping();
    const auto& host = cpu_device();
    const std::vector<std::int32_t> from{1, -2, 3};
    std::vector<std::int32_t> device(3), other(3), back(3);
    detail::copy_between(host, from.data(), there, device.data(), dtype::int32, 3);
    CHECK(device == std::vector<std::int32_t>{~1, ~-2, ~3});
    detail::copy_between(there, device.data(), there, other.data(), dtype::int32, 3);
    CHECK(other == device);
    detail::copy_between(there, other.data(), host, back.data(), dtype::int32, 3);
    CHECK(back == from);
    std::vector<std::int32_t> elsewhere(3);
    detail::copy_between(there, device.data(), test_device::another(), elsewhere.data(), dtype::int32, 3);
    CHECK(elsewhere == from);
    detail::copy_between(test_device::another(), elsewhere.data(), there, other.data(), dtype::int32, 3);
    CHECK(other == device);
    detail::copy_between(host, from.data(), host, back.data(), dtype::int32, 2);
    const std::vector<std::string> texts{"a", std::string(50, 'b')};
    std::vector<std::string> copied(2);
    detail::copy_between(host, texts.data(), host, copied.data(), dtype::string, 2);
    CHECK(copied == texts);
    CHECK_NOTHROW(detail::copy_between(host, nullptr, there, nullptr, dtype::int32, 0));
}
