// SPDX-License-Identifier: BSD-3-Clause
#include <rill/device/cpu/jit/executable_memory.hpp>

#include <cstdint>
#include <vector>

#include "catch.hpp"

using namespace rill;

TEST_CASE("executable_memory: code in it runs, also more than a page of it") {
#if defined(__x86_64__) && defined(__linux__)
    for (const std::size_t padding : {0u, 10'000u}) {
        std::vector<std::uint8_t> code(padding, 0x90);                 // nop
        code.insert(code.end(), {0xb8, 0x2a, 0x00, 0x00, 0x00, 0xc3}); // mov eax, 42; ret
        const void* const made = detail::make_executable(code);
        if (!made) return; // a system that allows none
        CHECK(reinterpret_cast<std::uintptr_t>(made) % 64 == 0);
        CHECK(reinterpret_cast<int (*)()>(reinterpret_cast<std::uintptr_t>(made))() == 42);
    }
#endif
}
