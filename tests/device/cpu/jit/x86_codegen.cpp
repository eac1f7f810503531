// SPDX-License-Identifier: BSD-3-Clause
#include <rill/device/cpu/jit/x86_codegen.hpp>

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include "catch.hpp"

using namespace rill;
using detail::vector_op;

// jit_program.cpp tests the results of the code.

TEST_CASE("x86_codegen: code ends with its constants, the numbers of lanes among them") {
    for (const int lanes : {8, 16}) {
        detail::jit_ir code(lanes);
        const int x = code.emit({vector_op::leaf, 0});
        code.results = {code.emit({vector_op::div, 0, {x, code.constant(3.f), -1, -1}})};
        code.finish();
        const auto made = detail::x86_loop(code);
        const auto has = [&](const auto& what) {
            std::array<std::uint8_t, sizeof(what)> bytes;
            std::memcpy(bytes.data(), &what, sizeof(what));
            return std::search(made.begin(), made.end(), bytes.begin(), bytes.end()) != made.end();
        };
        CHECK(made.size() % 32 == 0);
        CHECK(has(3.f));
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
        CHECK(!code_of(lanes, 100).empty());
        CHECK(code_of(lanes, detail::most_jit_stack / (4 * lanes) + 40).empty());
    }
}
