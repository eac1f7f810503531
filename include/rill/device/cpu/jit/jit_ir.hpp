// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include <rill/device/cpu/jit/ir_instruction.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

inline constexpr int partial_sums = 4; // registers per sum

/// A loop over numbers in vector code. Its leaves are slices, its splats are loop-invariant. Results are the condition (if any), the next
/// value of each state value, and the stacked outputs.
struct jit_number_loop {
    bool conditional = false, reverse = false;
    std::vector<int> state_bytes, stacked_bytes; // of an element; 1: a truth value
};

/// Vector code under construction. Equal instructions of one node become one value.
class jit_ir {
public:
    using row = std::array<std::uint32_t, 16>;

    /// Begins code over elements of `element_bytes` bytes, 4 or 8. The lanes fill registers of 32 bytes (AVX2) or 64 (AVX-512).
    explicit jit_ir(int lanes, int element_bytes = 4) : lanes_(lanes), element_bytes_(element_bytes) {}

    int emit(const ir_instruction& i);
    int constant(double value);            // rounded to the element size
    int constant_bits(std::uint64_t bits); // the low bits, in each element
    int constant_bits(std::uint64_t bits, int element_bytes);
    int constant_row(const float* values); // one float per lane

    /// Begins the code of the next node. Until `finish`, nodes share only leaves, scalars and constants. Each node is thus rounded as if
    /// compiled alone.
    void begin_node();
    /// Optimizes the code: joins equal products of a sum, fuses products with one use into additions, merges common subexpressions and
    /// removes dead code. In wide registers, comparisons are fused into choices. The final order keeps few values alive.
    void finish();

    int lanes() const { return lanes_; }
    int element_bytes() const { return element_bytes_; }
    int bytes_of(const ir_instruction& i) const { return i.bytes == 0 ? element_bytes_ : i.bytes; }
    bool wide() const { return lanes_ * element_bytes_ == 64; } // registers of AVX-512
    const std::vector<ir_instruction>& code() const { return code_; }
    const std::vector<row>& rows() const { return rows_; }
    bool one_element = false; // each operand has one element: no loop is made
    std::optional<jit_number_loop> loop;
    std::vector<int> results;
    std::vector<char> summed;   // per result: 1 if only its sum is needed; empty: no sums
    std::vector<char> integers; // per result: 1 for an integer; empty: none
    std::vector<int> whole;     // results of nodes: no optimization changes their rounding

private:
    bool is_one(int v, int element_bytes) const;
    static row row_of(std::uint64_t bits, int element_bytes);
    static std::uint64_t bits_of(double value, int element_bytes);
    int constant_of(const row& r);
    std::vector<int> needed() const;
    void join_products();
    void eliminate_common_subexpressions();
    void join_choices();
    void order(const std::vector<int>& needed);

    int lanes_, element_bytes_;
    std::vector<ir_instruction> code_;
    std::map<ir_instruction, int> known_;
    std::vector<row> rows_;
    std::map<row, int> known_rows_;
};

}}} // namespace rill::RILL_ABI::detail

#if !RILL_COMPILED
#include <rill/device/cpu/jit/jit_ir.ipp>
#endif
