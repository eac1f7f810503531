// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <utility>

#include <rill/device/cpu/linalg/row_updates.hpp>
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

/// Replaces the rows x [n, right] by the solution of L U x = P x.
template <class T> void solve_by_lu(const T* lu, const index_t* pivots, T* x, index_t n, index_t right) {
    for (index_t i = 0; i < n; ++i)
        if (pivots[i] != i) std::swap_ranges(x + i * right, x + (i + 1) * right, x + pivots[i] * right);
    for (index_t i = 1; i < n; ++i) subtract_rows(x + i * right, x, right, lu + i * n, 1, i, right);
    for (index_t i = n - 1; i >= 0; --i) {
        T* const row = x + i * right;
        subtract_rows(row, row + right, right, lu + i * n + i + 1, 1, n - 1 - i, right);
        for (index_t j = 0; j < right; ++j) row[j] /= lu[i * n + i];
    }
}

/// The operands, results and scratch memory of the functions of one matrix.
template <class T> struct matrix_operands {
    std::array<const T*, 2> in;
    std::array<T*, 3> out;
};

/// An algorithm for one matrix function, with the size of its scratch memory.
template <matrix_function F, class T> struct matrix_algorithm;

/// The common part of LU-based functions: a factored copy of the matrix.
template <class T> struct lu_copy {
    T* a;
    index_t* pivots;

    lu_copy(const matrix_task& t, scratch_cutter& cut)
        : a(cut.take<T>(t.columns * t.columns)), pivots(cut.take<index_t>(t.columns)) {}

    matrix_fault factor(const matrix_task& t, const T* from) {
        const index_t n = t.columns;
        if (t.adjoint)
            copy_adjoint(from, a, n, n);
        else
            std::copy_n(from, n * n, a);
        return factor_lu(a, n, pivots);
    }
    bool swaps(index_t n) const {
        bool odd = false;
        for (index_t i = 0; i < n; ++i) odd ^= pivots[i] != i;
        return odd;
    }
};

template <class T> struct matrix_algorithm<matrix_function::inverse, T> {
    static matrix_fault run(const matrix_task& t, const matrix_operands<T>& o, scratch_cutter& cut) {
        lu_copy<T> lu(t, cut);
        if (cut.only_counts()) return {};
        const index_t n = t.columns;
        if (const auto fault = lu.factor(t, o.in[0]); fault != matrix_fault::none) return fault;
        std::fill_n(o.out[0], n * n, T(0));
        for (index_t i = 0; i < n; ++i) o.out[0][i * n + i] = T(1);
        solve_by_lu(lu.a, lu.pivots, o.out[0], n, n);
        return {};
    }
};

template <class T> struct matrix_algorithm<matrix_function::determinant, T> {
    static matrix_fault run(const matrix_task& t, const matrix_operands<T>& o, scratch_cutter& cut) {
        lu_copy<T> lu(t, cut);
        if (cut.only_counts()) return {};
        lu.factor(t, o.in[0]); // the result for a singular matrix is 0
        T product = lu.swaps(t.columns) ? T(-1) : T(1);
        for (index_t i = 0; i < t.columns; ++i) product *= lu.a[i * t.columns + i];
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
            const T x = lu.a[i * t.columns + i];
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
        solve_by_lu(lu.a, lu.pivots, o.out[0], t.columns, t.right);
        return {};
    }
};

}}}} // namespace rill::RILL_ABI::detail::RILL_ISA
