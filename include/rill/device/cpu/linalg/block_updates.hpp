// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <utility>

#include <rill/device/cpu/gemm/gemm_blocks.hpp>
#include <rill/device/cpu/linalg/row_updates.hpp>

// Updates of blocks of a matrix, in place: products by the tiles of gemm, and triangular systems. They halve a problem until its
// blocks are small. Nearly all work is then in products.

namespace rill { inline namespace RILL_ABI { namespace detail { inline namespace RILL_ISA {

/// The extent from which factorizations update blocks. Smaller matrices are updated row by row.
inline constexpr index_t blocks_from = 64;

/// Returns true if a factorization of n × n numbers updates blocks.
template <class T> constexpr bool uses_blocks(index_t n) { return has_tiles<T> && n >= blocks_from; }

/// A triangular matrix whose rows are `row` elements apart. The diagonal is stored, or all ones.
template <class T> struct triangle {
    const T* at;
    index_t row;
    bool lower, ones;

    /// Returns the part from row and column i on.
    triangle from(index_t i) const { return {at + i * (row + 1), row, lower, ones}; }
};

/// Subtracts a b from c, in place: a is m × k, b is k × n. Their rows are a_row, b_row and c_row elements apart.
template <class T>
void subtract_product(index_t m, index_t n, index_t k, const T* a, index_t a_row, const T* b, index_t b_row, T* c,
                      index_t c_row);
/// Replaces the rows x [n, right] by the solution of a y = x.
template <class T> void solve_triangle(const triangle<T>& a, index_t n, T* x, index_t x_row, index_t right);

/// Returns a distance between rows of n elements: an odd number of cache lines. A column then spreads over all sets of the cache.
template <class T> constexpr index_t spread_row(index_t n) {
    constexpr auto line = static_cast<index_t>(64 / sizeof(T));
    return (((n + line - 1) / line) | 1) * line;
}

/// Returns about half of n, as a multiple of `step`.
constexpr index_t half_of(index_t n, index_t step) { return (n / 2 + step - 1) / step * step; }

#if RILL_SIMD_REGISTERS

/// Copies `columns` columns of b, negated, in whole registers. The tiles add products, but do not subtract them.
template <class T> void copy_negated(const T* b, index_t b_row, index_t k, int columns, T* to) {
    constexpr int lanes = simd<T>::lanes;
    for (index_t l = 0; l < k; ++l, b += b_row)
        for (int j = 0; j < columns; j += lanes, to += lanes)
            (-(columns - j >= lanes ? simd<T>::load(b + j) : load_some_or_zero(b, j, columns))).store(to);
}

template <class T>
void subtract_product(index_t m, index_t n, index_t k, const T* a, index_t a_row, const T* b, index_t b_row, T* c,
                      index_t c_row) {
    constexpr index_t most_k = 128, most_m = 256 * 1024 / static_cast<index_t>(sizeof(T)) / most_k; // of a: L2 cache
    alignas(64) T negated[static_cast<std::size_t>(most_k * tile_shape<T>::columns)];               // the L1 cache
    tile_operands<T> o{};
    o.a_row = a_row;
    o.a_step = 1;
    o.b = negated;
    o.c_row = c_row;
    o.add = true;
    for (index_t l = 0; l < k; l += o.k) {
        o.k = std::min(most_k, k - l);
        for (index_t i = 0; i < m; i += most_m)
            for (index_t j = 0; j < n; j += o.columns) {
                o.columns = next_columns<T>(n - j);
                o.b_step = registers_for<T>(o.columns) * tile_shape<T>::lanes;
                copy_negated(b + l * b_row + j, b_row, o.k, o.columns, negated);
                column_of_tiles(o, a + i * a_row + l, std::min(most_m, m - i), c + i * c_row + j);
            }
    }
}

/// The number of rows of a triangular system that are solved one after another.
inline constexpr index_t rows_in_turn = 16;

/// Solves a system of up to rows_in_turn rows. A copy of some columns stays in the L1 cache meanwhile.
template <class T> void solve_in_turn(const triangle<T>& a, index_t n, T* x, index_t x_row, index_t right) {
    constexpr index_t lanes = simd<T>::lanes, width = 4 * lanes;
    alignas(64) T copy[static_cast<std::size_t>(rows_in_turn * width)];
    for (index_t j = 0; j < right; j += width) {
        const index_t here = std::min(width, right - j), whole = (here + lanes - 1) / lanes * lanes;
        for (index_t i = 0; i < n; ++i) {
            std::copy_n(x + i * x_row + j, here, copy + i * width);
            std::fill_n(copy + i * width + here, whole - here, T(0));
        }
        for (index_t step = 0; step < n; ++step) {
            const index_t i = a.lower ? step : n - 1 - step, other = a.lower ? 0 : i + 1;
            T* const row = copy + i * width;
            subtract_rows(row, copy + other * width, width, a.at + i * a.row + other, 1, step, whole);
            if (a.ones) continue;
            for (index_t l = 0; l < whole; ++l) row[l] /= a.at[i * a.row + i];
        }
        for (index_t i = 0; i < n; ++i) std::copy_n(copy + i * width, here, x + i * x_row + j);
    }
}

template <class T> void solve_triangle(const triangle<T>& a, index_t n, T* x, index_t x_row, index_t right) {
    if (n <= rows_in_turn) return solve_in_turn(a, n, x, x_row, right);
    const index_t top = half_of(n, rows_in_turn), bottom = n - top;
    T* const below = x + top * x_row;
    if (a.lower) {
        solve_triangle(a, top, x, x_row, right);
        subtract_product(bottom, right, top, a.at + top * a.row, a.row, x, x_row, below, x_row);
        solve_triangle(a.from(top), bottom, below, x_row, right);
    } else {
        solve_triangle(a.from(top), bottom, below, x_row, right);
        subtract_product(top, right, bottom, a.at + top, a.row, below, x_row, x, x_row);
        solve_triangle(a, top, x, x_row, right);
    }
}

/// Transposes: to[j * to_row + i] = from[i * from_row + j]. Rows of `to` have room for whole registers.
template <class T>
void transpose_block(const T* from, index_t from_row, index_t rows, index_t columns, T* to, index_t to_row) {
    constexpr index_t lanes = simd<T>::lanes;
    for (index_t i = 0; i < rows; i += lanes)
        interleave_rows<static_cast<int>(lanes)>(from + i * from_row, from_row,
                                                 static_cast<int>(std::min(lanes, rows - i)), columns, to + i, to_row);
}

/// Returns the index of an element with the largest magnitude, and that magnitude. If an element is NaN, the magnitude is NaN.
template <class T> std::pair<index_t, T> largest_element(const T* x, index_t n) {
    using V = simd<T>;
    constexpr index_t lanes = V::lanes;
    V largest(T(0));
    index_t j = 0;
    for (; j + lanes <= n; j += lanes) largest = max(largest, abs(V::load(x + j)));
    T of_lane[static_cast<std::size_t>(lanes)];
    largest.store(of_lane);
    T most = 0;
    const auto add = [&](T size) {
        if (size > most || !(size == size)) most = size;
    };
    for (const T size : of_lane) add(size);
    for (; j < n; ++j) add(std::abs(x[j]));
    for (index_t i = 0; i < n; ++i)
        if (std::abs(x[i]) == most) return {i, most};
    return {0, most};
}

#endif

}}}} // namespace rill::RILL_ABI::detail::RILL_ISA
