// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <vector>

#include <rill/config.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

/// An assembler for x86-64. It encodes vector instructions with VEX prefixes (registers of 32 bytes) or EVEX prefixes (64 bytes).
class x86_assembler {
public:
    enum general : std::uint8_t { rax, rcx, rdx, rbx, rsp, rbp, rsi, rdi, r8, r9, r10, r11 };

    /// The last operand of a vector instruction: a register or memory.
    struct operand {
        enum class is : std::uint8_t { vector, stack, constant, element, partial } kind = is::vector;
        // vector: the register; stack: bytes from rsp; constant: the row; element: the base register, indexed by rax; partial: bytes from
        // rsp + rbx
        int number = 0;
        int scale = 0; // element: rax counts units of 2^scale bytes
    };
    /// An opcode: its byte, opcode map (1: 0F, 2: 0F38, 3: 0F3A), prefix (0: none, 1: 66, 2: F3, 3: F2), and the bit W, which many
    /// instructions over elements of 8 bytes require.
    struct vector_opcode {
        std::uint8_t code, map, prefix;
        bool w = false;
    };

    explicit x86_assembler(bool wide) : wide_(wide) {}

    bool wide() const { return wide_; }
    /// Selects whole registers for the next vector instructions, or their lowest 16 bytes.
    void use_whole_registers(bool whole) { whole_ = whole; }
    std::size_t register_bytes() const { return wide_ ? 64 : 32; }

    void bytes(std::initializer_list<int> all);
    void number(std::int64_t value, int count);
    static constexpr int zeroing = 0x80; // with a mask: other lanes become 0 instead of keeping their value

    /// Appends a vector instruction. `second` is 0 if there are two operands. `mask` is the register k1 … k7 that selects lanes, or 0.
    void vector(vector_opcode op, int first, int second, operand last, int immediate = -1, int mask = 0);
    /// Loads 64 bits from [base + offset].
    void load(general to, general base, int offset);
    /// Broadcasts the element of 4 or 8 bytes at [from] to all lanes.
    void splat(int to, general from, int element_bytes = 4);
    /// Broadcasts the low 4 or 8 bytes of rbx to all lanes.
    void splat_rbx(int to, int element_bytes);

    std::size_t here() const { return code_.size(); }
    /// Patches the rel32 at `at` to jump to `to`.
    void lead(std::size_t at, std::size_t to);
    void set(std::size_t at, std::uint32_t number);
    /// Appends the rows of constants, aligned to 64 bytes, patches all references to them, and returns the code.
    template <class Rows> std::vector<std::uint8_t> with_constants(const Rows& rows) {
        while (code_.size() % 64 != 0) code_.push_back(0xcc);
        const std::size_t begin = code_.size();
        for (const auto& r : rows)
            for (std::size_t k = 0; k < register_bytes() / 4; ++k) number(static_cast<std::int64_t>(r[k]), 4);
        for (const auto& f : fixes_) {
            const auto to = begin + static_cast<std::size_t>(f.row) * register_bytes();
            set(f.at, static_cast<std::uint32_t>(to - f.end));
        }
        return code_;
    }

private:
    void last_operand(int first, operand last, int immediate);

    struct fix {
        std::size_t at, end; // position of the rel32; end of the instruction
        int row;
    };
    bool wide_, whole_ = true;
    std::vector<std::uint8_t> code_;
    std::vector<fix> fixes_;
};

}}} // namespace rill::RILL_ABI::detail

#if !RILL_COMPILED
#include <rill/device/cpu/jit/x86_assembler.ipp>
#endif
