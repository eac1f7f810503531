// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Matrices of the host for the tests of decompositions: drawn batches, and products in long double.

#include <complex>
#include <random>

#include "ops/harness.hpp"

namespace matrices {

using namespace rill;

/// One matrix in long double.
struct wide {
    index_t rows, columns;
    std::vector<long double> at;

    long double operator()(index_t i, index_t j) const { return at[static_cast<std::size_t>(i * columns + j)]; }
    long double& operator()(index_t i, index_t j) { return at[static_cast<std::size_t>(i * columns + j)]; }
    long double largest() const {
        long double most = 0;
        for (const long double v : at) most = std::max(most, std::abs(v));
        return most;
    }
};
inline wide zeros(index_t rows, index_t columns) {
    return {rows, columns, std::vector<long double>(static_cast<std::size_t>(rows * columns))};
}
inline wide identity(index_t n) {
    wide y = zeros(n, n);
    for (index_t i = 0; i < n; ++i) y(i, i) = 1;
    return y;
}
inline wide product(const wide& a, const wide& b) {
    wide y = zeros(a.rows, b.columns);
    for (index_t i = 0; i < a.rows; ++i)
        for (index_t k = 0; k < a.columns; ++k)
            for (index_t j = 0; j < b.columns; ++j) y(i, j) += a(i, k) * b(k, j);
    return y;
}
inline wide transposed(const wide& a) {
    wide y = zeros(a.columns, a.rows);
    for (index_t i = 0; i < a.rows; ++i)
        for (index_t j = 0; j < a.columns; ++j) y(j, i) = a(i, j);
    return y;
}
/// Scales the columns.
inline wide times_columns(wide a, const wide& s) {
    for (index_t i = 0; i < a.rows; ++i)
        for (index_t j = 0; j < a.columns; ++j) a(i, j) *= s.at[static_cast<std::size_t>(j)];
    return a;
}
inline long double distance(const wide& a, const wide& b) {
    REQUIRE(a.at.size() == b.at.size());
    long double most = 0;
    for (std::size_t i = 0; i < a.at.size(); ++i) {
        if (!(std::abs(a.at[i] - b.at[i]) <= most)) most = std::abs(a.at[i] - b.at[i]);
    }
    return most;
}

/// Part k of a batch, as a matrix with so many rows. A complex matrix is [real, -imaginary; imaginary, real]: products are those of the
/// complex matrices, and its transpose stands for the adjoint.
template <class T> wide part_of(const any_array& a, index_t k, index_t rows) {
    const index_t columns = a.shape()[a.shape().rank - 1];
    if constexpr (is_complex<T>) {
        wide y = zeros(2 * rows, 2 * columns);
        for (index_t i = 0; i < rows; ++i)
            for (index_t j = 0; j < columns; ++j) {
                const T z = a.elements<T>()[static_cast<std::size_t>((k * rows + i) * columns + j)];
                y(i, j) = y(rows + i, columns + j) = static_cast<long double>(z.real());
                y(rows + i, j) = static_cast<long double>(z.imag());
                y(i, columns + j) = -y(rows + i, j);
            }
        return y;
    } else {
        wide y = zeros(rows, columns);
        for (std::size_t i = 0; i < y.at.size(); ++i)
            y.at[i] = static_cast<long double>(a.elements<T>()[static_cast<std::size_t>(k * rows * columns) + i]);
        return y;
    }
}
template <class T> wide matrix_of(const any_array& a, index_t k) {
    return part_of<T>(a, k, a.shape()[a.shape().rank - 2]);
}
template <class T> wide vector_of(const any_array& a, index_t k) { return part_of<T>(a, k, 1); }

/// Drawn matrices; `diagonal` is added to the diagonals. Real and imaginary parts of complex ones are drawn alike.
template <class T> any_array drawn(const dims& shape, double diagonal = 0, int salt = 0) {
    any_array a(dtype_of<T>, shape);
    std::mt19937 random(static_cast<unsigned>(salt) + 17);
    std::uniform_real_distribution<double> number(-1, 1);
    const index_t rows = shape[shape.rank - 2], columns = shape[shape.rank - 1];
    auto* const x = static_cast<T*>(a.mutable_data());
    for (index_t k = 0; k < a.size(); ++k) {
        const index_t i = k % (rows * columns);
        const double part = number(random) + (i / columns == i % columns ? diagonal : 0.);
        if constexpr (is_complex<T>)
            x[k] = T(static_cast<real_type<T>>(part), static_cast<real_type<T>>(number(random)));
        else
            x[k] = static_cast<T>(part);
    }
    return a;
}
/// x x^T + diagonal, symmetric and positive definite.
template <class T> any_array positive(const dims& shape, double diagonal, int salt = 0) {
    const any_array x = drawn<T>(shape, 0, salt);
    any_array y(x.dtype(), shape);
    const index_t n = shape[shape.rank - 1];
    for (index_t k = 0; n > 0 && k < x.size() / (n * n); ++k) {
        const wide one = matrix_of<T>(x, k), square = product(one, transposed(one));
        for (index_t i = 0; i < n * n; ++i)
            static_cast<T*>(y.mutable_data())[k * n * n + i] =
                static_cast<T>(square.at[static_cast<std::size_t>(i)] + (i % (n + 1) == 0 ? diagonal : 0.));
    }
    return y;
}

/// The lower triangles of x x^H + diagonal, which is self-adjoint. What a decomposition must not read is 7 + 5 i.
template <class T> any_array lower_of_self_adjoint(const dims& shape, double diagonal, int salt = 0) {
    const any_array x = drawn<T>(shape, 0, salt);
    any_array y(x.dtype(), shape);
    const index_t n = shape[shape.rank - 1];
    using R = real_type<T>;
    for (index_t k = 0; n > 0 && k < x.size() / (n * n); ++k) {
        const wide one = matrix_of<T>(x, k), square = product(one, transposed(one));
        for (index_t i = 0; i < n; ++i)
            for (index_t j = 0; j < n; ++j)
                static_cast<T*>(y.mutable_data())[(k * n + i) * n + j] =
                    j > i    ? T(R(7), R(5))
                    : j == i ? T(static_cast<R>(square(i, i) + diagonal), R(5))
                             : T(static_cast<R>(square(i, j)), static_cast<R>(square(n + i, j)));
    }
    return y;
}
/// The self-adjoint matrices whose lower triangles are given.
template <class T> any_array self_adjoint(const any_array& lower) {
    any_array y(lower.dtype(), lower.shape());
    const index_t n = lower.shape()[lower.shape().rank - 1];
    const auto from = lower.elements<T>();
    auto* const to = static_cast<T*>(y.mutable_data());
    for (index_t k = 0; k < lower.size(); ++k) {
        const index_t i = k / n % n, j = k % n, turned = k - i * n - j + j * n + i;
        const T z = from[static_cast<std::size_t>(j > i ? turned : k)];
        to[k] = j > i ? std::conj(z) : j == i ? T(z.real()) : z;
    }
    return y;
}

/// How far apart two matrices may be whose elements are sums of n products: 10 last places each.
template <class T> long double tolerance(index_t n, long double scale) {
    return 10 * static_cast<long double>(n) * static_cast<long double>(std::numeric_limits<T>::epsilon()) * scale;
}

} // namespace matrices
