// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <vector>

#include <rill/device/cpu/jit/ir_instruction.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

inline constexpr int partial_sums = 4; // registers

/// Code under construction. What a node computes twice is one value.
class jit_ir {
public:
    using row = std::array<std::uint32_t, 16>;

    explicit jit_ir(int lanes) : lanes_(lanes) {}

    int emit(const ir_instruction& i);
    int constant(float value);
    int constant_bits(std::uint32_t bits);
    int constant_row(const float* values); // as many as a register has

    /// What follows is another node's: it has nothing in common with those before until `finish`, so that it is rounded as it would be
    /// alone.
    void begin_node();
    /// Equal products in one sum become a multiple of one of them, products with one use go into the sums that use them, what is
    /// computed twice becomes one value, comparisons go into choices, and what no result needs goes. Then the code stands in an
    /// order that keeps few values alive.
    void finish();

    int lanes() const { return lanes_; }
    const std::vector<ir_instruction>& code() const { return code_; }
    const std::vector<row>& rows() const { return rows_; }
    bool one_element = false; // each operand is one number: no loop
    std::vector<int> results;
    std::vector<char> summed; // per result: its sums are wanted, in four registers; empty: of none
    std::vector<int> whole;   // what nodes give: rounded as it is, whoever uses it

private:
    bool is_one(int v) const;
    std::vector<int> needed() const;
    void join_products();
    void eliminate_common_subexpressions();
    void join_choices();
    void order(const std::vector<int>& needed);

    int lanes_;
    std::vector<ir_instruction> code_;
    std::map<ir_instruction, int> known_;
    std::vector<row> rows_;
    std::map<row, int> known_rows_;
};

}}} // namespace rill::RILL_ABI::detail

#if !RILL_COMPILED
#include <rill/device/cpu/jit/jit_ir.ipp>
#endif
