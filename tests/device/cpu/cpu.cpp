// SPDX-License-Identifier: BSD-3-Clause
#include <rill/device/cpu/cpu.hpp>

#include "catch.hpp"

using namespace rill;

TEST_CASE("cpu: the primitives ops are written on") {
    STATIC_REQUIRE(device_primitives<cpu>);
    const std::vector<float> a{1, 2, 3, 4}, b{5, 6, 7, 8};
    std::vector<float> c(4);
    std::vector<std::byte> scratch(cpu::gemm_scratch<float>(false, true, 2, 2, 2, nullptr) + 64);
    auto* aligned = reinterpret_cast<std::byte*>((reinterpret_cast<std::uintptr_t>(scratch.data()) + 63) / 64 * 64);
    cpu::gemm(false, true, 2, 2, 2, a.data(), b.data(), c.data(), aligned, nullptr);
    CHECK(c == std::vector<float>{17, 23, 39, 53});
    detail::strided_layout l;
    l.push(2, 1, 2);
    l.push(2, 2, 1);
    cpu::copy(a.data(), c.data(), l);
    CHECK(c == std::vector<float>{1, 3, 2, 4});
}
