// SPDX-License-Identifier: BSD-3-Clause
#include <rill/device/cpu/cpu.hpp>

#include <array>
#include <string>
#include <vector>

#include <rill/core/half.hpp>

#include "catch.hpp"

using namespace rill;

TEST_CASE("cpu: the primitives ops are written on") {
    STATIC_REQUIRE(device_primitives<cpu>);
    const std::vector<float> a{1, 2, 3, 4}, b{5, 6, 7, 8};
    std::vector<float> c(4);
    std::vector<std::byte> scratch(cpu::gemm_scratch<float>({}, false, true, 2, 2, 2) + 64);
    auto* aligned = reinterpret_cast<std::byte*>((reinterpret_cast<std::uintptr_t>(scratch.data()) + 63) / 64 * 64);
    cpu::gemm({.scratch = aligned}, false, true, 2, 2, 2, a.data(), b.data(), c.data());
    CHECK(c == std::vector<float>{17, 23, 39, 53});
    detail::strided_layout l;
    l.push(2, 1, 2);
    l.push(2, 2, 1);
    cpu::copy({}, a.data(), c.data(), l);
    CHECK(c == std::vector<float>{1, 3, 2, 4});
}

namespace test_cpu {

struct site final : error_site {
    error describe(const refused_element& found) const override {
        return out_of_range(std::to_string(found.at) + ": " + std::to_string(found.value));
    }
};

struct product_and_sum {
    std::array<double, 2> operator()(const std::array<double, 2>& x) const { return {x[0] * x[1], x[0] + x[1]}; }
};

} // namespace test_cpu

TEST_CASE("cpu: bad data throws at once, or fills the error record of the context") {
    const test_cpu::site site;
    const int ids[] = {3, 9, -2};
    CHECK_NOTHROW(cpu::check({}, ids, 3, [](int id) { return id < 10; }, site));
    CHECK_THROWS_WITH(cpu::check({}, ids, 3, index_inside<int>(5), site), "1: 9");
    error_record record;
    CHECK_NOTHROW(cpu::check({.errors = &record, .step = 4}, ids, 3, index_inside<int>(10), site));
    CHECK(record.step == 4);
    CHECK(record.where == &site);
    CHECK(record.found.at == 2);
    CHECK(record.found.value == -2);
}

TEST_CASE("cpu: a few numbers are computed in double and rounded once") {
    const half a(0.1f), b(3.f);
    half to[2];
    cpu::compute_scalars({}, test_cpu::product_and_sum{}, std::array{&a, &b}, to);
    const double wide = static_cast<double>(static_cast<float>(a));
    CHECK(to[0].bits == half(static_cast<float>(wide * 3)).bits);
    CHECK(to[1].bits == half(static_cast<float>(wide + 3)).bits);
}
