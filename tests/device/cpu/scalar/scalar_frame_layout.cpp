// SPDX-License-Identifier: BSD-3-Clause
#include <rill/device/cpu/scalar/scalar_frame_layout.hpp>

#include <algorithm>
#include <array>
#include <complex>
#include <vector>

#include "catch.hpp"

using namespace rill;
using detail::number_place;
using detail::scalar_code;

namespace test_device_cpu_scalar_frame_layout {

void nothing(const block_args&) {}

/// Calls, each of which reads and writes these values of four bytes and 16 lanes.
scalar_code code_of(std::size_t inputs, const std::vector<std::vector<int>>& calls, std::vector<int> results) {
    scalar_code code;
    for (std::uint32_t i = 0; i < inputs + calls.size(); ++i)
        code.values.push_back(
            {i < inputs ? scalar_code::home::input : scalar_code::home::computed, i, dtype::float32, 16});
    for (const auto& reads : calls) {
        scalar_code::call c;
        c.run = &nothing;
        c.lanes = 16;
        c.first_operand = static_cast<std::uint32_t>(code.operands.size());
        c.reads = static_cast<std::uint32_t>(reads.size()), c.writes = 1;
        code.operands.insert(code.operands.end(), reads.begin(), reads.end());
        code.operands.push_back(static_cast<int>(inputs + code.calls.size()));
        code.calls.push_back(c);
    }
    code.results = std::move(results);
    return code;
}

TEST_CASE("scalar_frame_layout: a number is there as often as it is read") {
    for (const int lanes : {1, 4, 16, 17}) {
        std::array<float, 18> to;
        to.fill(-1.f);
        const float value = 2.5f;
        detail::splat_number(to.data(), &value, sizeof(float), lanes);
        CHECK(std::count(to.begin(), to.end(), 2.5f) == lanes);
        CHECK(to[static_cast<std::size_t>(lanes)] == -1.f);
    }
    const std::complex<double> z(1, 2);
    std::array<std::complex<double>, 3> all{};
    const void* leaf = &z;
    void* result = all.data();
    detail::splat_function(sizeof(z))({&leaf, nullptr, &result, nullptr, 2});
    CHECK(all == std::array<std::complex<double>, 3>{z, z, 0.});
}

TEST_CASE("scalar_frame_layout: a place is another's after the last call that reads it") {
    // 1 = f(0), 2 = f(1), 3 = f(2): 3 may be where 1 was
    const auto code = code_of(1, {{0}, {1}, {2}}, {3});
    detail::scalar_frame_layout layout(code);
    const detail::placed_calls calls(code, layout);
    CHECK(layout.lines(number_place::scratch) == 2);
    CHECK(calls.size() == 3);
    CHECK(calls.operands() == 6);
    CHECK(calls.most_operands() == 2);
    CHECK(calls.before_result() == 3);
}

TEST_CASE("scalar_frame_layout: of a loop, what is next is written where it will be read") {
    // the state (0, 1, 2) becomes (3 = f(0, 4), 0, 3); 4 = another input stays
    auto code = code_of(4, {{0, 3}}, {4, 0, 4});
    code.repeats = true;
    code.carried = {{0, 4}, {1, 0}, {2, 4}};
    detail::scalar_frame_layout layout(code);
    const detail::placed_calls calls(code, layout);
    CHECK(layout[0] == number_place{number_place::current, 0});
    CHECK(layout[4] == number_place{number_place::next, 0});
    CHECK(layout[2].in == number_place::current);
    CHECK(layout[3].in == number_place::scratch); // as long as the loop runs
    CHECK(layout.lines(number_place::current) == 3);
    CHECK(calls.size() == 3); // two copies: of the state as it is, and of what is another part already
}

} // namespace test_device_cpu_scalar_frame_layout
