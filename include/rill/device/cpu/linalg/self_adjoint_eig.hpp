// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <limits>
#include <numeric>
#include <span>

#include <rill/core/algorithm.hpp>
#include <rill/device/cpu/linalg/lapack.hpp>
#include <rill/device/cpu/linalg/lu.hpp>

// Eigenvalues and eigenvectors of self-adjoint matrices by Jacobi rotations, which zero elements one after another, or by LAPACK.

namespace rill { inline namespace RILL_ABI { namespace detail { inline namespace RILL_ISA {

/// The maximum number of sweeps over all pairs in Jacobi's methods. About log2(n) + 5 are needed.
inline constexpr int most_sweeps = 60;

/// Returns cosine and sine of the rotation that makes two vectors orthogonal. Their squares are a and b, their product is c.
template <class T> std::pair<T, T> rotation_of(T a, T b, T c) {
    const T zeta = (b - a) / (2 * c), tangent = (zeta >= 0 ? T(1) : T(-1)) / (std::abs(zeta) + std::hypot(T(1), zeta)),
            cosine = 1 / std::sqrt(1 + tangent * tangent);
    return {cosine, cosine * tangent};
}

template <class T> struct matrix_algorithm<matrix_function::self_adjoint_eig, T> {
    static matrix_fault run(const matrix_task& t, const matrix_operands<T>& o, scratch_cutter& cut) {
        if constexpr (!is_complex<T>)
            if (const auto* library = t.columns >= lapack_from ? find_lapack(std::type_identity<T>{}) : nullptr)
                return by_library(*library, t, o, cut);
        return by_rotations(t, o, cut);
    }

    static matrix_fault by_rotations(const matrix_task& t, const matrix_operands<T>& o, scratch_cutter& cut) {
        using R = real_type<T>;
        const index_t n = t.columns;
        T* const a = cut.take<T>(n * n);
        T* const v = cut.take<T>(t.vectors ? n * n : 0); // the vectors as rows
        auto* const order = cut.take<index_t>(n);
        if (cut.only_counts()) return {};
        for (index_t i = 0; i < n; ++i) { // only the lower triangle is read, and of its diagonal the real part
            for (index_t j = 0; j < i; ++j) {
                a[i * n + j] = o.in[0][i * n + j];
                a[j * n + i] = conjugated(a[i * n + j]);
            }
            a[i * n + i] = std::real(o.in[0][i * n + i]);
        }
        if (!all_finite(a, n * n)) return matrix_fault::not_finite;
        if (t.vectors) {
            std::fill_n(v, n * n, T(0));
            for (index_t i = 0; i < n; ++i) v[i * n + i] = 1;
        }
        const R scale = scale_to_one(a, n * n), size = std::sqrt(square_of_row(a, n * n)),
                close = std::numeric_limits<R>::epsilon() * size / 2;
        for (int sweep = 0;; ++sweep) {
            bool turned = false;
            for (index_t p = 0; p < n; ++p)
                for (index_t q = p + 1; q < n; ++q) {
                    if (!(std::abs(a[p * n + q]) > close)) continue;
                    turned = true;
                    const phase_of<T> phase(a[p * n + q]); // a real element, which a rotation turns into 0
                    phase.multiply(a + q, n, n);
                    phase.multiply_conjugated(a + q * n, n);
                    const auto [cosine, sine] =
                        rotation_of(std::real(a[p * n + p]), std::real(a[q * n + q]), phase.size);
                    rotate_rows(a + p * n, a + q * n, cosine, sine, n);
                    for (index_t i = 0; i < n; ++i) {
                        const T x = a[i * n + p], y = a[i * n + q];
                        a[i * n + p] = cosine * x - sine * y;
                        a[i * n + q] = sine * x + cosine * y;
                    }
                    a[p * n + q] = a[q * n + p] = 0; // zero up to rounding
                    if constexpr (is_complex<T>)
                        for (const index_t i : {p, q}) a[i * n + i] = std::real(a[i * n + i]);
                    if (t.vectors) phase.multiply(v + q * n, n);
                    if (t.vectors) rotate_rows(v + p * n, v + q * n, cosine, sine, n);
                }
            if (!turned) break;
            if (sweep == most_sweeps) return matrix_fault::no_convergence;
        }
        std::iota(order, order + n, index_t(0));
        detail::sort(std::span(order, static_cast<std::size_t>(n)),
                     [&](index_t i, index_t j) { return std::real(a[i * n + i]) < std::real(a[j * n + j]); });
        for (index_t k = 0; k < n; ++k) {
            o.out[0][k] = a[order[k] * n + order[k]] * scale;
            if (t.vectors)
                for (index_t i = 0; i < n; ++i) o.out[1][i * n + k] = v[order[k] * n + i];
        }
        return {};
    }

private:
    /// Calls LAPACK, which sees the matrix transposed: its upper triangle is our lower one.
    static matrix_fault by_library(const lapack_functions<T>& f, const matrix_task& t, const matrix_operands<T>& o,
                                   scratch_cutter& cut) {
        const char* const job = t.vectors ? "V" : "N";
        const int n = static_cast<int>(t.columns), ask = -1;
        T best = 0;
        int integers_size = 0, info = 0;
        f.syevd(job, "U", &n, nullptr, &n, nullptr, &best, &ask, &integers_size, &ask, &info, 1, 1);
        const int size = static_cast<int>(std::nextafter(best, 2 * best)) + 1; // a float may round down
        T* const a = cut.take<T>(t.columns * t.columns);
        T* const work = cut.take<T>(size);
        int* const integers = cut.take<int>(integers_size);
        if (cut.only_counts()) return {};
        std::copy_n(o.in[0], t.columns * t.columns, a);
        for (index_t i = 0; i < n; ++i)
            if (!all_finite(a + i * n, i + 1)) return matrix_fault::not_finite;
        f.syevd(job, "U", &n, a, &n, o.out[0], work, &size, integers, &integers_size, &info, 1, 1);
        if (info != 0) return matrix_fault::no_convergence;
        if (t.vectors) copy_adjoint(a, o.out[1], t.columns, t.columns);
        return {};
    }
};

}}}} // namespace rill::RILL_ABI::detail::RILL_ISA
