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

/// The Cholesky factorization. It computes the rows of the upper factor, which are the columns of the lower one. The strict upper
/// triangle of the matrix is not read.
template <class T> struct matrix_algorithm<matrix_function::cholesky, T> {
    static matrix_fault run(const matrix_task& t, const matrix_operands<T>& o, scratch_cutter& cut) {
        const index_t n = t.columns;
        T* const u = cut.take<T>(n * n);
        T* const column = cut.take<T>(is_complex<T> ? n : 0); // conjugated
        if (cut.only_counts()) return {};
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
};

}}}} // namespace rill::RILL_ABI::detail::RILL_ISA
