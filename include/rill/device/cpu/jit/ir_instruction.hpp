// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cmath>
#include <compare>
#include <cstdint>

#include <rill/config.hpp>

// Straight-line code over registers of floats: what machine code is made of (x86_loop.hpp). A value is the number of the
// instruction that computes it; truth values are all bits of a lane or none.

namespace rill { inline namespace RILL_ABI { namespace detail {

enum class vector_op : std::uint8_t {
    leaf,     // the elements of leaf `number`
    splat,    // the one number of leaf `number`, spread
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
    scale,          // a * 2^b
    exact           // a; where b > d, exact function `number` of c instead: a call, which is rare
};

/// What the code of a function doesn't reach: numbers beyond `most`, or below its negative. The C library's function serves there.
struct exact_function {
    float (*run)(float);
    float most;
};
enum exact_number : int { exact_sine, exact_cosine };
inline constexpr std::array<exact_function, 2> exact_functions{
    {{[](float x) { return std::sin(x); }, 8192.f}, {[](float x) { return std::cos(x); }, 8192.f}}};

struct ir_instruction {
    vector_op op;
    int number = 0;
    std::array<int, 4> args{-1, -1, -1, -1};
    friend auto operator<=>(const ir_instruction&, const ir_instruction&) = default;
};

constexpr int operands_of(vector_op op) {
    switch (op) {
    case vector_op::leaf:
    case vector_op::splat:
    case vector_op::scalar:
    case vector_op::constant: return 0;
    case vector_op::sqrt:
    case vector_op::round:
    case vector_op::int_left:
    case vector_op::int_right: return 1;
    case vector_op::choose:
    case vector_op::multiply_add:
    case vector_op::multiply_sub:
    case vector_op::sub_product:
    case vector_op::lookup: return 3;
    case vector_op::compare_choose:
    case vector_op::exact: return 4;
    default: return 2;
    }
}

}}} // namespace rill::RILL_ABI::detail
