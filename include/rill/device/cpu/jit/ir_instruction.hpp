// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <type_traits>

#include <rill/config.hpp>

// Instructions of the JIT: straight-line code over registers, which x86_codegen.hpp translates. A value is the number of the instruction
// that computes it. All operands and results of a program have elements of one size: 4 bytes (float, int32) or 8 (double, int64).
// Instructions are the same for both sizes. Some functions of floats compute with pairs of registers of doubles between. A truth value has
// all bits of its lane set, or none. In a loop over numbers all lanes of a register are equal. Such a loop may have numbers of both sizes,
// and truth values in memory, of 1 byte.

namespace rill { inline namespace RILL_ABI { namespace detail {

enum class vector_op : std::uint8_t {
    leaf,     // the elements of leaf `number`
    splat,    // the single element of leaf `number`, in all lanes
    scalar,   // scalar `number`, in all lanes
    constant, // row `number` of the constants
    state,    // in a loop over numbers: state value `number`
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
    round,          // in mode `number`, the immediate of vroundps
    int_add,        // addition of integers, modulo 2^bits
    int_sub,        // the same
    int_mul,        // the same; 8 bytes: only in wide registers
    int_mul_halves, // 8 bytes: the product of the low halves, without sign
    int_smaller,    // 8 bytes: only in wide registers
    int_larger,     // the same
    int_left,       // shifted left by `number` bits
    int_right,      // logical shift by `number` bits
    compare,        // by predicate `number` of vcmpps
    int_compare,    // by an int_predicate
    to_float,       // a signed integer of the element size, rounded to a float; 8 bytes: only in wide registers
    to_int,         // truncated, the smallest integer for NaN and what is out of range; 8 bytes: only in wide registers
    choose,         // a ? b : c
    compare_choose, // (a compared with b) ? c : d, by predicate `number`; plus of_integers by an int_predicate
    multiply_add,   // a * b + c
    multiply_sub,   // a * b - c
    sub_product,    // c - a * b
    lookup,         // floats: the entries of rows b and c that the low bits of a index; on 8 lanes only row b
    scale,          // a * 2^b
    widen,          // the floats of the lower (`number` 0) or upper half (1) of a, as doubles
    narrow,         // the doubles of a and b, as the floats of one register
    cast,           // in a loop over numbers: a converted as by to_float and to_int, between the types of cast_number
    exact           // b > d ? exact function `number` of c (a rare call) : a
};

/// Comparisons of signed integers, as predicates of vpcmpd.
enum int_predicate : int { int_equal = 0, int_greater = 6 };
inline constexpr int of_integers = 0x100;

/// The `number` of a cast: 4 times the kind of the operand plus the kind of the result. Kinds are int32, int64, float, double.
template <class From, class To>
inline constexpr int cast_number = [] {
    constexpr auto kind = []<class T>(T) { return (std::is_floating_point_v<T> ? 2 : 0) + (sizeof(T) == 8 ? 1 : 0); };
    return 4 * kind(From()) + kind(To());
}();

struct ir_instruction {
    vector_op op;
    int number = 0;
    std::array<int, 4> args{-1, -1, -1, -1};
    int bytes = 0; // of its elements; 0: as those of the program
    friend auto operator<=>(const ir_instruction&, const ir_instruction&) = default;
};

constexpr int operands_of(vector_op op) {
    switch (op) {
    case vector_op::leaf:
    case vector_op::splat:
    case vector_op::scalar:
    case vector_op::state:
    case vector_op::constant: return 0;
    case vector_op::sqrt:
    case vector_op::round:
    case vector_op::widen:
    case vector_op::cast:
    case vector_op::to_float:
    case vector_op::to_int:
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
