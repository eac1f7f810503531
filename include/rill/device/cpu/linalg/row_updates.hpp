// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstddef>
#include <type_traits>

#include <rill/core/dims.hpp>
#include <rill/device/cpu/simd/simd.hpp>
#include <rill/device/numbers.hpp>

// The inner loops of factorizations: subtraction of multiples of rows, and scratch memory.

namespace rill { inline namespace RILL_ABI { namespace detail { inline namespace RILL_ISA {

/// Subtracts c[0] x, c[c_stride] (x + stride), … from y, rows of n elements; `count` rows in total. A part of y stays in registers
/// meanwhile.
template <class T>
void subtract_rows(T* y, const T* x, index_t stride, const T* c, index_t c_stride, index_t count, index_t n) {
    index_t j = 0;
    if constexpr (native_lanes<T> > 0) {
        using V = simd<T>;
        constexpr index_t lanes = V::lanes;
        for (; j + 4 * lanes <= n; j += 4 * lanes) {
            V s0 = V::load(y + j), s1 = V::load(y + j + lanes), s2 = V::load(y + j + 2 * lanes),
              s3 = V::load(y + j + 3 * lanes);
            const T* row = x + j;
            for (index_t k = 0; k < count; ++k, row += stride) {
                const V f(c[k * c_stride]);
                s0 = fnma(f, V::load(row), s0);
                s1 = fnma(f, V::load(row + lanes), s1);
                s2 = fnma(f, V::load(row + 2 * lanes), s2);
                s3 = fnma(f, V::load(row + 3 * lanes), s3);
            }
            s0.store(y + j);
            s1.store(y + j + lanes);
            s2.store(y + j + 2 * lanes);
            s3.store(y + j + 3 * lanes);
        }
        for (; j + lanes <= n; j += lanes) {
            V s = V::load(y + j);
            for (index_t k = 0; k < count; ++k) s = fnma(V(c[k * c_stride]), V::load(x + k * stride + j), s);
            s.store(y + j);
        }
    }
    for (; j < n; ++j) {
        T s = y[j];
        for (index_t k = 0; k < count; ++k) s -= c[k * c_stride] * x[k * stride + j];
        y[j] = s;
    }
}

/// Returns the conjugate of a number.
template <class T> T conjugated(const T& x) {
    if constexpr (is_complex<T>)
        return std::conj(x);
    else
        return x;
}

/// Returns the sum of products of two rows. The elements of the first row are conjugated.
template <class T> T product_of_rows(const T* a, const T* b, index_t n) {
    constexpr int parts = 8; // separate sums, which the compiler keeps in registers
    T s[parts] = {};
    index_t j = 0;
    for (; j + parts <= n; j += parts)
        for (int i = 0; i < parts; ++i) s[i] += conjugated(a[j + i]) * b[j + i];
    for (int i = 0; j + i < n; ++i) s[i] += conjugated(a[j + i]) * b[j + i];
    return ((s[0] + s[4]) + (s[2] + s[6])) + ((s[1] + s[5]) + (s[3] + s[7]));
}

/// Rotates two rows by an angle: (a, b) becomes (cosine a - sine b, sine a + cosine b).
template <class T> void rotate_rows(T* a, T* b, real_type<T> cosine, real_type<T> sine, index_t n) {
    for (index_t j = 0; j < n; ++j) {
        const T u = a[j], v = b[j];
        a[j] = cosine * u - sine * v;
        b[j] = sine * u + cosine * v;
    }
}

/// Returns the sum of squared magnitudes of a row.
template <class T> real_type<T> square_of_row(const T* a, index_t n) { return std::real(product_of_rows(a, a, n)); }

/// The phase of a product of two rows, product_of_rows(other, row). It becomes the real `size` if `row` is multiplied by `factor`. Real
/// numbers have a factor of 1.
template <class T> struct phase_of {
    real_type<T> size;
    T factor = 1;

    explicit phase_of(const T& product) {
        if constexpr (is_complex<T>) {
            size = std::abs(product);
            factor = std::conj(product) / size;
        } else {
            size = product;
        }
    }
    void multiply(T* row, index_t n, index_t stride = 1) const {
        if constexpr (is_complex<T>)
            for (index_t i = 0; i < n; ++i) row[i * stride] *= factor;
    }
    void multiply_conjugated(T* row, index_t n) const {
        if constexpr (is_complex<T>)
            for (index_t i = 0; i < n; ++i) row[i] *= std::conj(factor);
    }
};

/// Returns true if no number is infinite or NaN.
template <class T> bool all_finite(const T* x, index_t n) {
    for (index_t i = 0; i < n; ++i)
        if (!std::isfinite(std::real(x[i])) || !std::isfinite(std::imag(x[i]))) return false;
    return true;
}

/// Divides numbers by their largest magnitude, so that their squares neither overflow nor vanish. Returns it, or 1 if all are 0.
template <class T> real_type<T> scale_to_one(T* x, index_t n) {
    real_type<T> most = 0;
    for (index_t i = 0; i < n; ++i) most = std::max(most, std::abs(x[i]));
    if (most == 0) return 1;
    for (index_t i = 0; i < n; ++i) x[i] /= most;
    return most;
}

/// Copies a matrix [rows, columns] transposed.
template <class T> void copy_transposed(const T* from, T* to, index_t rows, index_t columns) {
    for (index_t i = 0; i < rows; ++i)
        for (index_t j = 0; j < columns; ++j) to[j * rows + i] = from[i * columns + j];
}
/// Copies a matrix [rows, columns] transposed, and conjugated if it is complex.
template <class T> void copy_adjoint(const T* from, T* to, index_t rows, index_t columns) {
    for (index_t i = 0; i < rows; ++i)
        for (index_t j = 0; j < columns; ++j) to[j * rows + i] = conjugated(from[i * columns + j]);
}

/// A divider of a block of scratch memory into arrays. Without a block it only counts the bytes.
class scratch_cutter {
public:
    scratch_cutter() = default;
    explicit scratch_cutter(void* block) : block_(static_cast<std::byte*>(block)), only_counts_(false) {}

    template <class T> T* take(index_t n) {
        T* const made = block_ ? reinterpret_cast<T*>(block_ + used_) : nullptr;
        used_ += (static_cast<std::size_t>(n) * sizeof(T) + 63) / 64 * 64;
        return made;
    }
    std::size_t used() const { return used_; }
    bool only_counts() const { return only_counts_; }

private:
    std::byte* block_ = nullptr;
    std::size_t used_ = 0;
    bool only_counts_ = true;
};

}}}} // namespace rill::RILL_ABI::detail::RILL_ISA
