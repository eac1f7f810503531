// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include <rill/config.hpp>

// Straight-line code over registers of floats: what machine code is made of (x86_loop.hpp). A value is the number of the
// instruction that computes it; truth values are all bits of a lane or none.

namespace rill { inline namespace RILL_ABI { namespace detail {

enum class vector_op : std::uint8_t {
    leaf,     // the elements of leaf `number`
    spread,   // the one number of leaf `number`, spread
    scalar,   // scalar `number`, spread
    constant, // row `number` of the constants
    add,
    sub,
    mul,
    div,
    smaller, // a < b ? a : b
    larger,  // a > b ? a : b
    bit_and,
    bit_or,
    bit_xor,
    sqrt,
    round,          // as `number` says: that of the instruction
    int_add,        // of 32 bits
    int_left,       // shifted by `number`
    int_right,      // without sign
    compare,        // as `number` says
    choose,         // a ? b : c
    compare_choose, // a compared with b ? c : d
    multiply_add,   // a * b + c
    multiply_sub,   // a * b - c
    sub_product,    // c - a * b
    lookup,         // in the rows b and c, at the places that the low bits of a say; for registers of 8 in b alone
    scale           // a * 2^b
};

struct vector_instruction {
    vector_op op;
    int number = 0;
    std::array<int, 4> args{-1, -1, -1, -1};
    friend auto operator<=>(const vector_instruction&, const vector_instruction&) = default;
};

inline constexpr int partial_sums = 4; // registers

/// Code under construction. What a node computes twice is one value.
class vector_code {
public:
    using row = std::array<std::uint32_t, 16>;

    explicit vector_code(int lanes) : lanes_(lanes) {}

    int emit(const vector_instruction& i);
    int constant(float value);
    int constant_bits(std::uint32_t bits);
    int constant_row(const float* values); // as many as a register has

    /// What follows is another node's: it has nothing in common with those before until `finish`, so that it is rounded as it would be
    /// alone.
    void begin_node();
    /// Products with one use go into the sums that use them, what is computed twice becomes one value, comparisons go into choices, and
    /// what no result needs goes. Then the code stands in an order that keeps few values alive.
    void finish();

    int lanes() const { return lanes_; }
    const std::vector<vector_instruction>& code() const { return code_; }
    const std::vector<row>& rows() const { return rows_; }
    std::vector<int> results;
    std::vector<char> summed; // per result: its sums are wanted, in four registers; empty: of none
    std::vector<int> whole;   // what nodes give: rounded as it is, whoever uses it

private:
    void join_products();
    void share_common();
    void join_choices();

    int lanes_;
    std::vector<vector_instruction> code_;
    std::map<vector_instruction, int> known_;
    std::vector<row> rows_;
    std::map<row, int> known_rows_;
};

int operands_of(vector_op op);

}}} // namespace rill::RILL_ABI::detail

#if !RILL_COMPILED
#include <rill/device/cpu/vector_code.ipp>
#endif
