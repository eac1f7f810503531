// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/device/cpu/jit/x86_assembler.hpp>

#include <initializer_list>

namespace rill { inline namespace RILL_ABI { namespace detail {

RILL_COLD void x86_assembler::bytes(std::initializer_list<int> all) {
    for (const int b : all) code_.push_back(static_cast<std::uint8_t>(b));
}

RILL_COLD void x86_assembler::number(std::int64_t value, int count) {
    for (int k = 0; k < count; ++k)
        code_.push_back(static_cast<std::uint8_t>(static_cast<std::uint64_t>(value) >> (8 * k)));
}

RILL_COLD void x86_assembler::vector(vector_opcode op, int first, int second, operand last, int immediate, int mask) {
    // the prefix stores all register extension bits inverted
    const int number = last.kind == operand::is::vector || last.kind == operand::is::element ? last.number : 0;
    const int r = ~first >> 3 & 1, b = ~number >> 3 & 1, w = op.w << 7;
    if (wide_) {
        const int x = last.kind == operand::is::vector ? ~number >> 4 & 1 : 1;
        bytes({0x62, r << 7 | x << 6 | b << 5 | (~first >> 4 & 1) << 4 | op.map,
               w | (~second & 15) << 3 | 4 | op.prefix, (whole_ ? 2 << 5 : 0) | (~second >> 4 & 1) << 3 | mask});
    } else {
        bytes({0xc4, r << 7 | 1 << 6 | b << 5 | op.map, w | (~second & 15) << 3 | (whole_ ? 4 : 0) | op.prefix});
    }
    bytes({op.code});
    last_operand(first, last, immediate);
    if (immediate >= 0) bytes({immediate});
}

RILL_COLD void x86_assembler::last_operand(int first, operand last, int immediate) {
    const int reg = (first & 7) << 3;
    switch (last.kind) {
    case operand::is::vector: return bytes({0xc0 | reg | (last.number & 7)});
    case operand::is::stack: bytes({0x84 | reg, 0x24}); return number(last.number, 4);
    case operand::is::element: return bytes({0x04 | reg, last.scale << 6 | (last.number & 7)});
    case operand::is::partial: bytes({0x84 | reg, rbx << 3 | rsp}); return number(last.number, 4);
    case operand::is::constant:
        bytes({0x05 | reg});
        fixes_.push_back({here(), here() + 4 + (immediate >= 0 ? 1 : 0), last.number});
        return number(0, 4);
    }
}

RILL_COLD void x86_assembler::load(general to, general base, int offset) {
    bytes({0x48 | (to >> 3) << 2 | base >> 3, 0x8b, 0x80 | (to & 7) << 3 | (base & 7)}); // no base is rsp or r12 (SIB)
    number(offset, 4);
}

RILL_COLD void x86_assembler::splat(int to, general from, int element_bytes) {
    // `from` must not be rsp, rbp, r12 or r13: as bases they need more bytes
    const int r = ~to >> 3 & 1, b = ~from >> 3 & 1;
    const bool eight = element_bytes == 8;
    if (wide_)
        bytes({0x62, r << 7 | 1 << 6 | b << 5 | (~to >> 4 & 1) << 4 | 2, eight << 7 | 0x7d, 2 << 5 | 1 << 3});
    else
        bytes({0xc4, r << 7 | 1 << 6 | b << 5 | 2, 0x7d});
    bytes({0x18 + eight, (to & 7) << 3 | (from & 7)});
}

RILL_COLD void x86_assembler::splat_rbx(int to, int element_bytes) {
    const bool eight = element_bytes == 8;
    if (wide_) return vector({0x7c, 2, 1, eight}, to, 0, {operand::is::vector, rbx}); // vpbroadcastd or q, from a register
    bytes({0xc4, (~to >> 3 & 1) << 7 | 0x61, eight << 7 | 0x79, 0x6e, 0xc0 | (to & 7) << 3 | rbx}); // vmovd or q
    vector({std::uint8_t(eight ? 0x59 : 0x58), 2, 1}, to, 0, {operand::is::vector, to});
}

RILL_COLD void x86_assembler::lead(std::size_t at, std::size_t to) {
    set(at, static_cast<std::uint32_t>(to - (at + 4)));
}

RILL_COLD void x86_assembler::set(std::size_t at, std::uint32_t number) {
    for (std::size_t k = 0; k < 4; ++k) code_[at + k] = static_cast<std::uint8_t>(number >> (8 * k));
}

}}} // namespace rill::RILL_ABI::detail
