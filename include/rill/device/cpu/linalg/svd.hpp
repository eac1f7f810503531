// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <limits>
#include <numeric>
#include <span>

#include <rill/core/algorithm.hpp>
#include <rill/device/cpu/linalg/self_adjoint_eig.hpp>

// Singular values and vectors by one-sided Jacobi rotations, which make vectors orthogonal, or by LAPACK.

namespace rill { inline namespace RILL_ABI { namespace detail { inline namespace RILL_ISA {

/// Adds unit vectors of `length` elements as rows of v, from `made` to `count`. Each is orthogonal to all before it.
template <class T> void complete_basis(T* v, index_t made, index_t count, index_t length) {
    for (index_t unit = 0; made < count; ++unit) {
        T* const row = v + made * length;
        std::fill_n(row, length, T(0));
        row[unit % length] = 1;
        for (int time = 0; time < 2; ++time) // twice, because of rounding errors
            for (index_t i = 0; i < made; ++i) {
                const T along = product_of_rows(v + i * length, row, length);
                subtract_rows(row, v + i * length, 0, &along, 1, 1, length);
            }
        const auto norm = std::sqrt(square_of_row(row, length));
        // at least one of the unit vectors keeps a norm this large
        using R = real_type<T>;
        if (norm < R(0.5) * std::sqrt(R(count - made) / R(length))) continue;
        for (index_t j = 0; j < length; ++j) row[j] /= norm;
        ++made;
    }
}

template <class T> struct matrix_algorithm<matrix_function::svd, T> {
    static matrix_fault run(const matrix_task& t, const matrix_operands<T>& o, scratch_cutter& cut) {
        if constexpr (!is_complex<T>)
            if (const auto* library = t.least() >= lapack_from ? find_lapack(std::type_identity<T>{}) : nullptr)
                return by_library(*library, t, o, cut);
        return by_rotations(t, o, cut);
    }

    /// Rotates the shorter side's vectors, k rows of `length` elements, until they are orthogonal. They are the columns of the matrix, or of
    /// its conjugate transpose if that has fewer.
    static matrix_fault by_rotations(const matrix_task& t, const matrix_operands<T>& o, scratch_cutter& cut) {
        using R = real_type<T>;
        const index_t m = t.rows, n = t.columns, k = t.least(), length = std::max(m, n);
        const bool tall = m >= n;
        const index_t long_side = t.factor_columns(length);
        T* const w = cut.take<T>(k * length);
        T* const v = cut.take<T>(t.vectors ? k * k : 0);
        T* const basis = cut.take<T>(t.vectors ? std::max(long_side, k) * length : 0);
        R* const norms = cut.take<R>(k);
        auto* const order = cut.take<index_t>(k);
        if (cut.only_counts()) return {};
        if (!all_finite(o.in[0], m * n)) return matrix_fault::not_finite;
        for (index_t i = 0; i < m; ++i)
            for (index_t j = 0; j < n; ++j) {
                const T& x = o.in[0][i * n + j];
                w[tall ? j * m + i : i * n + j] = tall ? x : conjugated(x);
            }
        const R scale = scale_to_one(w, m * n);
        if (t.vectors) {
            std::fill_n(v, k * k, T(0));
            for (index_t i = 0; i < k; ++i) v[i * k + i] = 1;
        }
        const R epsilon = std::numeric_limits<R>::epsilon();
        const R nothing = epsilon * std::sqrt(square_of_row(w, k * length));
        const R close = 4 * epsilon * std::sqrt(R(length)); // rounding error of a product of orthogonal unit vectors
        for (int sweep = 0;; ++sweep) {
            bool turned = false;
            for (index_t p = 0; p < k; ++p)
                for (index_t q = p + 1; q < k; ++q) {
                    T *const x = w + p * length, *const y = w + q * length;
                    const R a = square_of_row(x, length), b = square_of_row(y, length);
                    const T c = product_of_rows(x, y, length);
                    if (!(std::abs(c) > close * std::sqrt(a) * std::sqrt(b)) || !(std::min(a, b) > nothing * nothing))
                        continue;
                    turned = true;
                    const phase_of<T> phase(c);
                    phase.multiply(y, length);
                    const auto [cosine, sine] = rotation_of(a, b, phase.size);
                    rotate_rows(x, y, cosine, sine, length);
                    if (t.vectors) phase.multiply(v + q * k, k);
                    if (t.vectors) rotate_rows(v + p * k, v + q * k, cosine, sine, k);
                }
            if (!turned) break;
            if (sweep == most_sweeps) return matrix_fault::no_convergence;
        }
        for (index_t i = 0; i < k; ++i) norms[i] = std::sqrt(square_of_row(w + i * length, length));
        std::iota(order, order + k, index_t(0));
        detail::sort(std::span(order, static_cast<std::size_t>(k)),
                     [&](index_t i, index_t j) { return norms[i] > norms[j]; });
        for (index_t i = 0; i < k; ++i) o.out[0][i] = norms[order[i]] * scale;
        if (!t.vectors) return {};
        index_t made = 0;
        for (; made < k && norms[order[made]] > nothing; ++made)
            for (index_t j = 0; j < length; ++j)
                basis[made * length + j] = w[order[made] * length + j] / norms[order[made]];
        complete_basis(basis, made, std::max(long_side, k), length);
        T *const of_long = o.out[tall ? 1 : 2], *const of_short = o.out[tall ? 2 : 1];
        copy_transposed(basis, of_long, long_side, length);
        for (index_t i = 0; i < k; ++i)
            for (index_t j = 0; j < k; ++j) of_short[j * k + i] = v[order[i] * k + j];
        return {};
    }

private:
    /// Calls LAPACK, which sees the matrix transposed: its left vectors are our right ones.
    static matrix_fault by_library(const lapack_functions<T>& f, const matrix_task& t, const matrix_operands<T>& o,
                                   scratch_cutter& cut) {
        const int rows = static_cast<int>(t.columns), columns = static_cast<int>(t.rows), ask = -1,
                  side_u = static_cast<int>(t.factor_columns(t.columns)),
                  side_v = static_cast<int>(t.factor_columns(t.rows));
        const char* const job = !t.vectors ? "N" : t.full ? "A" : "S";
        T best = 0;
        int info = 0;
        f.gesdd(job, &rows, &columns, nullptr, &rows, nullptr, nullptr, &rows, nullptr, &side_v, &best, &ask, nullptr,
                &info, 1);
        const int size = static_cast<int>(std::nextafter(best, 2 * best)) + 1; // a float may round down
        T* const a = cut.take<T>(t.rows * t.columns);
        T* const u = cut.take<T>(t.vectors ? t.columns * side_u : 0);
        T* const work = cut.take<T>(size);
        int* const integers = cut.take<int>(8 * t.least());
        if (cut.only_counts()) return {};
        std::copy_n(o.in[0], t.rows * t.columns, a);
        if (!all_finite(a, t.rows * t.columns)) return matrix_fault::not_finite;
        f.gesdd(job, &rows, &columns, a, &rows, o.out[0], u, &rows, o.out[1], &side_v, work, &size, integers, &info, 1);
        if (info != 0) return matrix_fault::no_convergence;
        if (t.vectors) copy_adjoint(u, o.out[2], side_u, t.columns);
        return {};
    }
};

}}}} // namespace rill::RILL_ABI::detail::RILL_ISA
