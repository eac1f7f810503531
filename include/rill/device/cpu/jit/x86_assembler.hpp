// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <vector>

#include <rill/config.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

/// Writes instructions of x86-64: those of vectors with VEX prefixes, over registers of 32 bytes, or with EVEX prefixes over 64.
class x86_assembler {
public:
    enum general : std::uint8_t { rax, rcx, rdx, rbx, rsp, rbp, rsi, rdi, r8, r9, r10, r11 };

    /// What stands last among an instruction's operands: a register, or memory.
    struct operand {
        enum class is : std::uint8_t { vector, stack, constant, element, partial } kind = is::vector;
        // of the register; bytes from rsp; the row of constants; the register that byte rax is counted from; bytes from rsp + rbx
        int number = 0;
    };
    /// Opcode, map (1: 0F, 2: 0F38, 3: 0F3A) and prefix (0: none, 1: 66, 2: F3).
    struct vector_opcode {
        std::uint8_t code, map, prefix;
    };

    explicit x86_assembler(bool wide) : wide_(wide) {}

    bool wide() const { return wide_; }
    std::size_t register_bytes() const { return wide_ ? 64 : 32; }

    void bytes(std::initializer_list<int> all);
    void number(std::int64_t value, int count);
    static constexpr int zeroing = 0x80; // with a mask: other lanes become 0 instead of staying

    /// An instruction of vectors; `second` is none (0) where there are two operands, `mask` a register that chooses lanes.
    void vector(vector_opcode op, int first, int second, operand last, int immediate = -1, int mask = 0);
    /// 64 bits from [base + offset].
    void load(general to, general base, int offset);
    /// Spreads the float that a register points to.
    void splat(int to, general from);

    std::size_t here() const { return code_.size(); }
    /// Has the 32 bits at `at` lead from behind them to `to`.
    void lead(std::size_t at, std::size_t to);
    void set(std::size_t at, std::uint32_t number);
    /// Puts the rows of constants behind the code.
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
        std::size_t at, end; // of the distance, of the instruction
        int row;
    };
    bool wide_;
    std::vector<std::uint8_t> code_;
    std::vector<fix> fixes_;
};

}}} // namespace rill::RILL_ABI::detail

#if !RILL_COMPILED
#include <rill/device/cpu/jit/x86_assembler.ipp>
#endif
