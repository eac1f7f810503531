// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>

#include <rill/device/cpu/linalg/lu.hpp>

// Triangular systems, and the Cholesky factorization.

namespace rill { inline namespace RILL_ABI { namespace detail { inline namespace RILL_ISA {

template <class T> struct matrix_algorithm<matrix_function::triangular_solve, T> {
    static matrix_fault run(const matrix_task& t, const matrix_operands<T>& o, scratch_cutter& cut) {
        const index_t n = t.columns, right = t.right;
        T* const adjoint = cut.take<T>(t.adjoint ? n * n : 0);
        if (cut.only_counts()) return {};
        for (index_t i = 0; i < n; ++i)
            if (const auto size = std::abs(o.in[0][i * n + i]); !(size > 0))
                return size == size ? matrix_fault::singular : matrix_fault::not_finite;
        if (t.adjoint) copy_adjoint(o.in[0], adjoint, n, n);
        const T* const a = t.adjoint ? adjoint : o.in[0];
        T* const x = o.out[0];
        if (x != o.in[1]) std::copy_n(o.in[1], n * right, x);
        if constexpr (has_tiles<T>)
            if (uses_blocks<T>(n)) {
                solve_triangle<T>({a, n, t.lower != t.adjoint, false}, n, x, right, right);
                return {};
            }
        const auto divide = [&](index_t i) {
            for (index_t j = 0; j < right; ++j) x[i * right + j] /= a[i * n + i];
        };
        if (t.lower != t.adjoint)
            for (index_t i = 0; i < n; ++i) {
                subtract_rows(x + i * right, x, right, a + i * n, 1, i, right);
                divide(i);
            }
        else
            for (index_t i = n - 1; i >= 0; --i) {
                subtract_rows(x + i * right, x + (i + 1) * right, right, a + i * n + i + 1, 1, n - 1 - i, right);
                divide(i);
            }
        return {};
    }
};

/// A factorization of Cholesky by blocks. It computes the rows of the upper factor u, and copies them to the columns of the lower one.
/// Each serves as an operand of the products that update the rest of u.
template <class T> struct block_cholesky {
    /// The number of rows that are factored one after another.
    static constexpr index_t width = 32;
    /// The number of columns that a product updates down to their last row.
    static constexpr index_t together = 2 * tile_shape<T>::columns;

    index_t n;
    index_t row; // of u
    T* u;
    T* lower;

    matrix_fault factor(index_t from, index_t end) const {
        if (end - from <= width) return factor_rows(from, end);
        const index_t middle = from + half_of(end - from, width), right = end - middle;
        if (const auto fault = factor(from, middle); fault != matrix_fault::none) return fault;
        T *const beside = u + from * row + middle, *const below = lower + middle * n + from;
        solve_triangle<T>({lower + from * (n + 1), n, true, false}, middle - from, beside, row, right);
        transpose_block(beside, row, middle - from, right, below, n);
        for (index_t j = 0; j < right; j += together) { // the triangle below the diagonal is not used
            const index_t columns = std::min(together, right - j);
            subtract_product<T>(j + columns, columns, middle - from, below, n, beside + j, row,
                                u + middle * row + middle + j, row);
        }
        return factor(middle, end);
    }

private:
    matrix_fault factor_rows(index_t from, index_t end) const {
        for (index_t i = from; i < end; ++i) {
            T* const at = u + i * row;
            subtract_rows(at + i, u + from * row + i, row, lower + i * n + from, 1, i - from, end - i);
            const T square = at[i];
            if (!(square > 0) || !std::isfinite(square))
                return std::isfinite(square) ? matrix_fault::not_positive_definite : matrix_fault::not_finite;
            const T root = std::sqrt(square);
            lower[i * n + i] = root;
            for (index_t j = i + 1; j < end; ++j) lower[j * n + i] = at[j] /= root;
        }
        return {};
    }
};

/// The Cholesky factorization. It computes the rows of the upper factor, which are the columns of the lower one. The strict upper
/// triangle of the matrix is not read.
template <class T> struct matrix_algorithm<matrix_function::cholesky, T> {
    static matrix_fault run(const matrix_task& t, const matrix_operands<T>& o, scratch_cutter& cut) {
        const index_t n = t.columns;
        const bool blocks = uses_blocks<T>(n);
        T* const u = cut.take<T>(n * (blocks ? spread_row<T>(n) : n));
        T* const column = cut.take<T>(is_complex<T> ? n : 0); // conjugated
        if (cut.only_counts()) return {};
        if constexpr (has_tiles<T>)
            if (blocks) return by_blocks({n, spread_row<T>(n), u, o.out[0]}, o.in[0]);
        for (index_t i = 0; i < n; ++i)
            for (index_t j = i; j < n; ++j) u[i * n + j] = conjugated(o.in[0][j * n + i]);
        for (index_t i = 0; i < n; ++i) {
            T* const row = u + i * n;
            if constexpr (is_complex<T>) {
                for (index_t k = 0; k < i; ++k) column[k] = std::conj(u[k * n + i]);
                subtract_rows(row + i, u + i, n, column, 1, i, n - i);
            } else {
                subtract_rows(row + i, u + i, n, u + i, n, i, n - i);
            }
            const auto square = std::real(row[i]); // the imaginary part of the diagonal is not read
            if (!(square > 0) || !std::isfinite(square))
                return std::isfinite(square) ? matrix_fault::not_positive_definite : matrix_fault::not_finite;
            const auto root = std::sqrt(square);
            row[i] = root;
            for (index_t j = i + 1; j < n; ++j) row[j] /= root;
        }
        for (index_t i = 0; i < n; ++i) {
            for (index_t j = 0; j <= i; ++j) o.out[0][i * n + j] = conjugated(u[j * n + i]);
            std::fill_n(o.out[0] + i * n + i + 1, n - i - 1, T(0));
        }
        return {};
    }

private:
    static matrix_fault by_blocks(const block_cholesky<T>& to, const T* from) {
        constexpr index_t lanes = native_lanes<T>;
        for (index_t i = 0; i < to.n; i += lanes) {
            const index_t rows = std::min(lanes, to.n - i);
            for (index_t k = i; k < i + rows; ++k) { // products update these, too: numbers left in memory may be slow
                const index_t before = std::min(k, block_cholesky<T>::together);
                std::fill_n(to.u + k * to.row + k - before, before, T(0));
            }
            transpose_block(from + i * to.n, to.n, rows, i + rows, to.u + i, to.row);
        }
        if (const auto fault = to.factor(0, to.n); fault != matrix_fault::none) return fault;
        for (index_t i = 0; i < to.n; ++i) std::fill_n(to.lower + i * to.n + i + 1, to.n - i - 1, T(0));
        return {};
    }
};

}}}} // namespace rill::RILL_ABI::detail::RILL_ISA
