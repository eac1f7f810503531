// SPDX-License-Identifier: BSD-3-Clause
#include <rill/device/cpu/x86_loop.hpp>

#include <algorithm>
#include <array>
#include <cstring>

#include "catch.hpp"

using namespace rill;
using detail::vector_op;

namespace {

} // namespace

// What it computes is tested in emitted_program.cpp.

TEST_CASE("x86_loop: code ends with its constants, the numbers of lanes among them") {
    for (const int lanes : {8, 16}) {
        detail::vector_code code(lanes);
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
