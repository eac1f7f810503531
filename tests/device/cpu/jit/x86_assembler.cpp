// SPDX-License-Identifier: BSD-3-Clause
#include <rill/device/cpu/jit/x86_assembler.hpp>

#include <array>
#include <vector>

#include "catch.hpp"

using namespace rill;
using detail::x86_assembler;

namespace {

using code = std::vector<std::uint8_t>;
using is = x86_assembler::operand::is;

template <class F> code written(bool wide, F f) {
    x86_assembler out(wide);
    f(out);
    const std::size_t n = out.here();
    code all = out.with_constants(std::vector<std::array<std::uint32_t, 16>>());
    all.resize(n);
    return all;
}

} // namespace

TEST_CASE("x86_assembler: the bytes that an assembler of the system writes") {
    constexpr x86_assembler::vector_opcode add{0x58, 1, 0}, product{0xa8, 2, 1};
    // vaddps ymm9, ymm1, ymm12; vaddps zmm17, zmm30, zmm9
    CHECK(written(false, [&](auto& o) { o.vector(add, 9, 1, {is::vector, 12}); }) ==
          code{0xc4, 0x41, 0x74, 0x58, 0xcc});
    CHECK(written(true, [&](auto& o) { o.vector(add, 17, 30, {is::vector, 9}); }) ==
          code{0x62, 0xc1, 0x0c, 0x40, 0x58, 0xc9});
    // vfmadd213ps zmm3, zmm20, [rsp + 64]
    CHECK(written(true, [&](auto& o) { o.vector(product, 3, 20, {is::stack, 64}); }) ==
          code{0x62, 0xf2, 0x5d, 0x40, 0xa8, 0x9c, 0x24, 0x40, 0, 0, 0});
    // vmovups ymm2, [r9 + rax]
    CHECK(written(false, [&](auto& o) { o.vector({0x10, 1, 0}, 2, 0, {is::element, x86_assembler::r9}); }) ==
          code{0xc4, 0xc1, 0x7c, 0x10, 0x14, 0x01});
    // vmovups zmm2{k2}{z}, [r9 + rax]; vmovups [rcx + rax]{k2}, zmm20
    CHECK(written(true, [&](auto& o) {
              o.vector({0x10, 1, 0}, 2, 0, {is::element, x86_assembler::r9}, -1, 2 | x86_assembler::zeroing);
          }) == code{0x62, 0xd1, 0x7c, 0xca, 0x10, 0x14, 0x01});
    CHECK(written(true, [&](auto& o) { o.vector({0x11, 1, 0}, 20, 0, {is::element, x86_assembler::rcx}, -1, 2); }) ==
          code{0x62, 0xe1, 0x7c, 0x4a, 0x11, 0x24, 0x01});
    // vaddps ymm3, ymm4, [rsp + rbx + 64]; vaddps zmm18, zmm4, [rsp + rbx + 64]
    CHECK(written(false, [&](auto& o) { o.vector(add, 3, 4, {is::partial, 64}); }) ==
          code{0xc4, 0xe1, 0x5c, 0x58, 0x9c, 0x1c, 0x40, 0, 0, 0});
    CHECK(written(true, [&](auto& o) { o.vector(add, 18, 4, {is::partial, 64}); }) ==
          code{0x62, 0xe1, 0x5c, 0x48, 0x58, 0x94, 0x1c, 0x40, 0, 0, 0});
    // vaddpd zmm17, zmm30, zmm9; vfmadd213pd ymm3, ymm4, ymm9
    CHECK(written(true, [&](auto& o) { o.vector({0x58, 1, 1, true}, 17, 30, {is::vector, 9}); }) ==
          code{0x62, 0xc1, 0x8d, 0x40, 0x58, 0xc9});
    CHECK(written(false, [&](auto& o) { o.vector({0xa8, 2, 1, true}, 3, 4, {is::vector, 9}); }) ==
          code{0xc4, 0xc2, 0xdd, 0xa8, 0xd9});
    // vbroadcastss ymm9, [r11]; vbroadcastsd ymm9, [r11]; vbroadcastsd zmm17, [r11]
    CHECK(written(false, [&](auto& o) { o.splat(9, x86_assembler::r11); }) == code{0xc4, 0x42, 0x7d, 0x18, 0x0b});
    CHECK(written(false, [&](auto& o) { o.splat(9, x86_assembler::r11, 8); }) == code{0xc4, 0x42, 0x7d, 0x19, 0x0b});
    CHECK(written(true, [&](auto& o) { o.splat(17, x86_assembler::r11, 8); }) ==
          code{0x62, 0xc2, 0xfd, 0x48, 0x19, 0x0b});
    // mov r11, [rdi + 16]
    CHECK(written(false, [&](auto& o) { o.load(x86_assembler::r11, x86_assembler::rdi, 16); }) ==
          code{0x4c, 0x8b, 0x9f, 16, 0, 0, 0});
}

TEST_CASE("x86_assembler: constants lie behind the code, at multiples of a register") {
    x86_assembler out(false);
    out.vector({0x58, 1, 0}, 0, 0, {is::constant, 1});
    const std::size_t end = out.here();
    std::vector<std::array<std::uint32_t, 16>> rows(2);
    rows[1].fill(0x01020304);
    const auto all = out.with_constants(rows);
    REQUIRE(all.size() == 64 + 2 * 32);
    CHECK(all[96] == 4);
    CHECK(all[end - 4] == 96 - end); // from the end of the instruction
}
