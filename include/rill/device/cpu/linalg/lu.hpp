// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <utility>

#include <rill/device/cpu/linalg/block_updates.hpp>
#include <rill/device/matrix_task.hpp>

// LU factorization with partial pivoting, and functions of square matrices based on it.

namespace rill { inline namespace RILL_ABI { namespace detail { inline namespace RILL_ISA {

/// The number of columns that are factored before the rest of the matrix is updated.
inline constexpr index_t lu_panel = 32;

/// Factors the n × n matrix a in place: P a = L U, with ones on the diagonal of L. Row i of the result was exchanged with row
/// pivots[i]. Returns the first fault; the factors are complete in any case.
template <class T> matrix_fault factor_lu(T* a, index_t n, index_t* pivots) {
    matrix_fault found = matrix_fault::none;
    for (index_t from = 0; from < n; from += lu_panel) {
        const index_t end = std::min(n, from + lu_panel);
        for (index_t k = from; k < end; ++k) {
            index_t best = k;
            auto most = std::abs(a[k * n + k]);
            for (index_t i = k + 1; i < n; ++i)
                if (const auto size = std::abs(a[i * n + k]); size > most || !(size == size)) most = size, best = i;
            pivots[k] = best;
            if (best != k) std::swap_ranges(a + k * n, a + k * n + n, a + best * n);
            if (!(most > 0)) {
                if (found == matrix_fault::none)
                    found = most == most ? matrix_fault::singular : matrix_fault::not_finite;
                if (most == most) continue; // the column is 0 from here on
            }
            const T* const row = a + k * n;
            for (index_t i = k + 1; i < n; ++i) {
                T* const other = a + i * n;
                other[k] /= row[k];
                subtract_rows(other + k + 1, row + k + 1, n, other + k, 1, 1, end - k - 1);
            }
        }
        for (index_t i = from + 1; i < n; ++i) // the rows of U beside the panel, then the rows below
            subtract_rows(a + i * n + end, a + from * n + end, n, a + i * n + from, 1, std::min(i, end) - from,
                          n - end);
    }
    return found;
}

/// A factorization by blocks of an n × n matrix whose rows are `row` elements apart. It factors the left half of the columns, updates
/// the right half by a product, and factors that. Results are those of factor_lu.
template <class T> struct block_lu {
    /// The number of columns that are factored one after another.
    static constexpr index_t width = 16;

    index_t n;
    index_t row;
    T* a;
    index_t* pivots;
    T* panel; // the transpose of `width` columns
    matrix_fault found = matrix_fault::none;

    /// Returns the distance between the rows of a panel. Whole registers fit in it from any column on.
    static constexpr index_t panel_row(index_t n) { return spread_row<T>(n + native_lanes<T>); }

    void factor(index_t from, index_t end) {
        if (end - from <= width) return factor_panel(from, end);
        const index_t middle = from + half_of(end - from, width);
        factor(from, middle);
        T* const right = a + from * row + middle;
        solve_triangle<T>({a + from * (row + 1), row, true, true}, middle - from, right, row, end - middle);
        subtract_product<T>(n - middle, end - middle, middle - from, a + middle * row + from, row, right, row,
                            a + middle * row + middle, row);
        factor(middle, end);
    }

private:
    void factor_panel(index_t from, index_t end) {
        const index_t columns = end - from, rows = n - from, step = panel_row(n);
        T* const block = a + from * row + from;
        transpose_block(block, row, rows, columns, panel, step);
        for (index_t k = 0; k < columns; ++k) {
            T* const column = panel + k * step;
            for (index_t i = 1; i < k; ++i) subtract_rows(column + i, panel + i, step, column, 1, i, 1);
            const index_t whole = (rows - k + native_lanes<T> - 1) / native_lanes<T> * native_lanes<T>;
            subtract_rows(column + k, panel + k, step, column, 1, k, whole);
            const auto [best, most] = largest_element(column + k, rows - k);
            pivots[from + k] = from + k + best;
            if (best != 0)
                for (index_t j = 0; j < columns; ++j) std::swap(panel[j * step + k], panel[j * step + k + best]);
            if (!(most > 0)) {
                if (found == matrix_fault::none)
                    found = most == most ? matrix_fault::singular : matrix_fault::not_finite;
                if (most == most) continue; // the column is 0 from here on
            }
            for (index_t i = k + 1; i < rows; ++i) column[i] /= column[k];
        }
        transpose_block(panel, step, columns, rows, block, row);
        for (index_t i = from; i < end; ++i) {
            T *const here = a + i * row, *const other = a + pivots[i] * row;
            if (here == other) continue;
            std::swap_ranges(here, here + from, other);
            std::swap_ranges(here + end, here + n, other + end);
        }
    }
};

/// The factors of a square matrix: P a = L U. The rows of a are `row` elements apart.
template <class T> struct lu_factors {
    T* a;
    index_t row;
    index_t* pivots;
};

/// Replaces the rows x [n, right] by the solution of L U x = P x.
template <class T> void solve_by_lu(const lu_factors<T>& lu, T* x, index_t n, index_t right) {
    for (index_t i = 0; i < n; ++i)
        if (const index_t other = lu.pivots[i]; other != i)
            std::swap_ranges(x + i * right, x + (i + 1) * right, x + other * right);
    if constexpr (has_tiles<T>)
        if (uses_blocks<T>(n)) {
            for (const bool lower : {true, false}) solve_triangle<T>({lu.a, lu.row, lower, lower}, n, x, right, right);
            return;
        }
    for (index_t i = 1; i < n; ++i) subtract_rows(x + i * right, x, right, lu.a + i * n, 1, i, right);
    for (index_t i = n - 1; i >= 0; --i) {
        T* const row = x + i * right;
        subtract_rows(row, row + right, right, lu.a + i * n + i + 1, 1, n - 1 - i, right);
        for (index_t j = 0; j < right; ++j) row[j] /= lu.a[i * n + i];
    }
}

/// Computes the inverse U^-1 L^-1 P by blocks. The rows of x are lu.row elements apart, x and `places` are scratch memory.
template <class T> void invert_by_lu(const lu_factors<T>& lu, index_t n, T* x, index_t* places, T* to) {
    constexpr index_t together = 48; // columns of L^-1, whose rows above the diagonal are 0
    const index_t row = lu.row;
    std::fill_n(x, n * row, T(0));
    for (index_t j = 0; j < n; ++j) x[j * row + j] = T(1), places[j] = j;
    for (index_t j = 0; j < n; j += together)
        solve_triangle<T>({lu.a + j * (row + 1), row, true, true}, n - j, x + j * (row + 1), row,
                          std::min(together, n - j));
    solve_triangle<T>({lu.a, row, false, false}, n, x, row, n);
    for (index_t j = n - 1; j >= 0; --j) std::swap(places[j], places[lu.pivots[j]]);
    for (index_t i = 0; i < n; ++i)
        for (index_t j = 0; j < n; ++j) to[i * n + j] = x[i * row + places[j]];
}

/// The operands, results and scratch memory of the functions of one matrix.
template <class T> struct matrix_operands {
    std::array<const T*, 2> in;
    std::array<T*, 3> out;
};

/// An algorithm for one matrix function, with the size of its scratch memory.
template <matrix_function F, class T> struct matrix_algorithm;

/// The common part of LU-based functions: a factored copy of the matrix.
template <class T> struct lu_copy : lu_factors<T> {
    T* panel; // only if the matrix is factored by blocks

    lu_copy(const matrix_task& t, scratch_cutter& cut) {
        const index_t n = t.columns;
        this->row = uses_blocks<T>(n) ? spread_row<T>(n) : n;
        this->a = cut.take<T>(n * this->row);
        this->pivots = cut.take<index_t>(n);
        panel = cut.take<T>(uses_blocks<T>(n) ? block_lu<T>::width * block_lu<T>::panel_row(n) : 0);
    }

    matrix_fault factor(const matrix_task& t, const T* from) {
        const index_t n = t.columns;
        if constexpr (has_tiles<T>)
            if (uses_blocks<T>(n)) {
                if (t.adjoint)
                    transpose_block(from, n, n, n, this->a, this->row);
                else
                    for (index_t i = 0; i < n; ++i) std::copy_n(from + i * n, n, this->a + i * this->row);
                block_lu<T> lu{n, this->row, this->a, this->pivots, panel};
                lu.factor(0, n);
                return lu.found;
            }
        if (t.adjoint)
            copy_adjoint(from, this->a, n, n);
        else
            std::copy_n(from, n * n, this->a);
        return factor_lu(this->a, n, this->pivots);
    }
    const T& diagonal(index_t i) const { return this->a[i * this->row + i]; }
    bool swaps(index_t n) const {
        bool odd = false;
        for (index_t i = 0; i < n; ++i) odd ^= this->pivots[i] != i;
        return odd;
    }
};

template <class T> struct matrix_algorithm<matrix_function::inverse, T> {
    static matrix_fault run(const matrix_task& t, const matrix_operands<T>& o, scratch_cutter& cut) {
        lu_copy<T> lu(t, cut);
        const index_t n = t.columns;
        T* const x = cut.take<T>(uses_blocks<T>(n) ? n * lu.row : 0);
        auto* const places = cut.take<index_t>(uses_blocks<T>(n) ? n : 0);
        if (cut.only_counts()) return {};
        if (const auto fault = lu.factor(t, o.in[0]); fault != matrix_fault::none) return fault;
        if constexpr (has_tiles<T>)
            if (uses_blocks<T>(n)) {
                invert_by_lu(lu, n, x, places, o.out[0]);
                return {};
            }
        std::fill_n(o.out[0], n * n, T(0));
        for (index_t i = 0; i < n; ++i) o.out[0][i * n + i] = T(1);
        solve_by_lu(lu, o.out[0], n, n);
        return {};
    }
};

template <class T> struct matrix_algorithm<matrix_function::determinant, T> {
    static matrix_fault run(const matrix_task& t, const matrix_operands<T>& o, scratch_cutter& cut) {
        lu_copy<T> lu(t, cut);
        if (cut.only_counts()) return {};
        lu.factor(t, o.in[0]); // the result for a singular matrix is 0
        T product = lu.swaps(t.columns) ? T(-1) : T(1);
        for (index_t i = 0; i < t.columns; ++i) product *= lu.diagonal(i);
        *o.out[0] = product;
        return {};
    }
};

template <class T> struct matrix_algorithm<matrix_function::log_determinant, T> {
    static matrix_fault run(const matrix_task& t, const matrix_operands<T>& o, scratch_cutter& cut) {
        lu_copy<T> lu(t, cut);
        if (cut.only_counts()) return {};
        lu.factor(t, o.in[0]);
        T sign = lu.swaps(t.columns) ? T(-1) : T(1);
        real_type<T> sum = 0;
        for (index_t i = 0; i < t.columns; ++i) {
            const T x = lu.diagonal(i);
            const auto size = std::abs(x);
            if constexpr (is_complex<T>) // 0 for a singular matrix, NaN for NaN
                sign *= size > 0 ? x / size : x * real_type<T>(0);
            else
                sign = x > 0 ? sign : x < 0 ? -sign : x * 0;
            sum += std::log(size);
        }
        *o.out[0] = sign;
        *o.out[1] = sum;
        return {};
    }
};

template <class T> struct matrix_algorithm<matrix_function::solve, T> {
    static matrix_fault run(const matrix_task& t, const matrix_operands<T>& o, scratch_cutter& cut) {
        lu_copy<T> lu(t, cut);
        if (cut.only_counts()) return {};
        if (const auto fault = lu.factor(t, o.in[0]); fault != matrix_fault::none) return fault;
        std::copy_n(o.in[1], t.columns * t.right, o.out[0]);
        solve_by_lu(lu, o.out[0], t.columns, t.right);
        return {};
    }
};

}}}} // namespace rill::RILL_ABI::detail::RILL_ISA
