// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cmath>
#include <compare>
#include <cstdint>

#include <rill/config.hpp>

// Instructions of the JIT: straight-line code over registers, which x86_codegen.hpp translates. A value is the number of the instruction
// that computes it. All values of a program have elements of one size: 4 bytes (float) or 8 (double). Instructions are the same for both.
// A truth value has all bits of its lane set, or none.

namespace rill { inline namespace RILL_ABI { namespace detail {

enum class vector_op : std::uint8_t {
    leaf,     // the elements of leaf `number`
    splat,    // the single element of leaf `number`, in all lanes
    scalar,   // scalar `number`, in all lanes
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
    round,          // in mode `number`, the immediate of vroundps
    int_add,        // addition of integers
    int_left,       // shifted left by `number` bits
    int_right,      // logical shift by `number` bits
    compare,        // by predicate `number` of vcmpps
    choose,         // a ? b : c
    compare_choose, // (a compared with b) ? c : d, by predicate `number`
    multiply_add,   // a * b + c
    multiply_sub,   // a * b - c
    sub_product,    // c - a * b
    lookup,         // floats: the entries of rows b and c that the low bits of a index; on 8 lanes only row b
    scale,          // a * 2^b
    exact           // b > d ? exact function `number` of c (a rare call) : a
};

/// A C library function for numbers beyond +/-`most`, where the vector code of the function is inaccurate.
template <class T> struct exact_function {
    T (*run)(T);
    T most;
};
enum exact_number : int { exact_sine, exact_cosine };
template <class T> inline constexpr T most_reduced_angle = sizeof(T) == 4 ? T(8192) : T(1 << 20);
template <class T>
inline constexpr std::array<exact_function<T>, 2> exact_functions{
    {{[](T x) { return std::sin(x); }, most_reduced_angle<T>},
     {[](T x) { return std::cos(x); }, most_reduced_angle<T>}}};

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
