// SPDX-License-Identifier: BSD-3-Clause
#include <rill/device/cpu/jit/x86_codegen.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <vector>

#include <rill/device/cpu/jit/jit_program.hpp>

#include "catch.hpp"

using namespace rill;
using detail::vector_op;

// jit_program.cpp tests the results of the code.

TEST_CASE("x86_codegen: code ends with its constants, at multiples of a register") {
    for (const int lanes : {8, 16}) {
        detail::jit_ir code(lanes);
        const int x = code.emit({vector_op::leaf, 0});
        code.results = {code.emit({vector_op::div, 0, {x, code.constant(3.f), -1, -1}})};
        code.finish();
        const auto made = detail::x86_loop(code);
        CHECK(made.empty() == !detail::emits_programs);
        if (made.empty()) continue;
        const auto register_bytes = static_cast<std::size_t>(4 * lanes);
        const std::size_t constants =
            made.size() - 2 * register_bytes; // those of the program, and the numbers of the lanes
        CHECK(constants % 64 == 0);
        const auto row = [&](std::size_t k) {
            std::vector<std::byte> bytes(register_bytes);
            std::memcpy(bytes.data(), made.data() + constants + k * register_bytes, register_bytes);
            return bytes;
        };
        std::vector<float> threes(static_cast<std::size_t>(lanes), 3.f);
        std::vector<std::int32_t> numbers(static_cast<std::size_t>(lanes));
        std::iota(numbers.begin(), numbers.end(), 0);
        const auto bytes_of = [&](const auto& all) {
            std::vector<std::byte> bytes(register_bytes);
            std::memcpy(bytes.data(), all.data(), register_bytes);
            return bytes;
        };
        CHECK((row(0) == bytes_of(threes)));
        CHECK((row(1) == bytes_of(numbers)));
    }
}

TEST_CASE("x86_codegen: code of any length") { // xbyak's memory grows
    for (const int lanes : {8, 16}) {
        detail::jit_ir code(lanes);
        int x = code.emit({vector_op::leaf, 0});
        for (int k = 0; k < 2000; ++k) x = code.emit({vector_op::div, 0, {x, code.constant(k + 2), -1, -1}});
        code.results = {x};
        code.finish();
        const auto made = detail::x86_loop(code);
        const std::size_t least = 2000 * (2 * 4 + static_cast<std::size_t>(4 * lanes)); // two passes, and the constants
        CHECK((made.empty() || made.size() > least));
        CHECK(made.empty() == !detail::emits_programs);
    }
}

TEST_CASE("x86_codegen: where more has to be kept than a thread may have stack for, there is no code") {
    const auto code_of = [](int lanes, int values) {
        detail::jit_ir code(lanes);
        std::vector<int> all;
        for (int i = 0; i < values; ++i) {
            const int x = code.emit({vector_op::leaf, i});
            all.push_back(code.emit({vector_op::div, 0, {x, code.constant(3.f), -1, -1}}));
        }
        int quotient = all[0];
        for (const int v : all) quotient = code.emit({vector_op::div, 0, {quotient, v, -1, -1}});
        int most = quotient; // of it, and then of each once more
        for (const int v : all) most = code.emit({vector_op::larger, 0, {most, v, -1, -1}});
        code.results = {most};
        code.finish();
        return detail::x86_loop(code);
    };
    for (const int lanes : {8, 16}) {
        CHECK(code_of(lanes, 100).empty() == !detail::emits_programs);
        CHECK(code_of(lanes, detail::most_jit_stack / (4 * lanes) + 40).empty());
    }
}
