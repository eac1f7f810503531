// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>

#include <rill/device/cpu/linalg/lu.hpp>

// QR factorization by Householder reflections.

namespace rill { inline namespace RILL_ABI { namespace detail { inline namespace RILL_ISA {

/// Applies the reflection I - tau v v^H to rows of n elements. v has `count` elements, v_stride apart; its first counts as 1. `w`
/// holds n numbers.
template <class T>
void reflect_rows(T* rows, index_t stride, const T* v, index_t v_stride, T tau, index_t count, index_t n, T* w) {
    if (tau == T(0) || n == 0) return;
    for (index_t j = 0; j < n; ++j) w[j] = -rows[j];
    if constexpr (is_complex<T>) // -v^H rows
        for (index_t i = 1; i < count; ++i) {
            const T factor = std::conj(v[i * v_stride]);
            subtract_rows(w, rows + i * stride, 0, &factor, 1, 1, n);
        }
    else
        subtract_rows(w, rows + stride, stride, v + v_stride, v_stride, count - 1, n);
    for (index_t i = 0; i < count; ++i) {
        const T factor = -tau * (i == 0 ? T(1) : v[i * v_stride]);
        subtract_rows(rows + i * stride, w, 0, &factor, 1, 1, n);
    }
}

/// Computes the reflection that maps a column of `count` elements to a real multiple of its first unit vector. Stores the multiple in the
/// first element and the reflection's vector in the others; returns tau.
template <class T> T make_reflection(T* x, index_t stride, index_t count) {
    using R = real_type<T>;
    R most = 0;
    for (index_t i = 1; i < count; ++i) most = std::max(most, std::abs(x[i * stride]));
    const T first = x[0];
    if (most == 0 && std::imag(first) == 0) return 0;
    most = std::max(most, std::abs(first)); // squares relative to it neither overflow nor vanish
    R squares = 0;
    for (index_t i = 0; i < count; ++i) squares += std::norm(x[i * stride] / most);
    const R norm = most * std::sqrt(squares), beta = std::real(first) > 0 ? -norm : norm;
    for (index_t i = 1; i < count; ++i) x[i * stride] /= first - beta;
    x[0] = beta;
    return (beta - conjugated(first)) / beta;
}

template <class T> struct matrix_algorithm<matrix_function::qr, T> {
    static matrix_fault run(const matrix_task& t, const matrix_operands<T>& o, scratch_cutter& cut) {
        const index_t m = t.rows, n = t.columns, k = t.least(), side = t.factor_columns(m);
        T* const a = cut.take<T>(m * n);
        T* const tau = cut.take<T>(k);
        T* const w = cut.take<T>(std::max(n, side));
        if (cut.only_counts()) return {};
        if (!all_finite(o.in[0], m * n)) return matrix_fault::not_finite;
        std::copy_n(o.in[0], m * n, a);
        for (index_t j = 0; j < k; ++j) {
            T* const at = a + j * n + j;
            tau[j] = make_reflection(at, n, m - j);
            reflect_rows(at + 1, n, at, n, tau[j], m - j, n - j - 1, w);
        }
        T *const q = o.out[0], *const r = o.out[1];
        for (index_t i = 0; i < side; ++i)
            for (index_t j = 0; j < n; ++j) r[i * n + j] = j < i || i >= k ? T(0) : a[i * n + j];
        std::fill_n(q, m * side, T(0));
        for (index_t i = 0; i < side; ++i) q[i * side + i] = 1;
        for (index_t j = k - 1; j >= 0; --j)
            reflect_rows(q + j * side + j, side, a + j * n + j, n, conjugated(tau[j]), m - j, side - j, w);
        return {};
    }
};

}}}} // namespace rill::RILL_ABI::detail::RILL_ISA
