// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include <rill/core/dims.hpp>

// The description of work on a batch of matrices, as ops give it to a device.

namespace rill { inline namespace RILL_ABI {

/// The functions of dense matrices that a device computes.
enum class matrix_function : std::uint8_t {
    inverse,
    determinant,
    log_determinant,
    solve,
    triangular_solve,
    cholesky,
    qr,
    self_adjoint_eig,
    svd
};

/// The reason why a device refuses a matrix.
enum class matrix_fault : std::int64_t { none, singular, not_positive_definite, not_finite, no_convergence };

/// The elements of one matrix of each operand and of each result.
struct matrix_sizes {
    std::array<index_t, 2> in{};
    std::array<index_t, 3> out{};
};

/// A batch of row-major matrices [rows, columns]; for solves also right-hand sides [rows, right].
struct matrix_task {
    index_t count = 1, rows = 0, columns = 0, right = 0;
    bool lower = true;    // triangular_solve: the triangle that is read
    bool adjoint = false; // inverse and solves: use the conjugate transpose of the matrix
    bool full = false;    // qr, svd: square orthogonal factors
    bool vectors = true;  // self_adjoint_eig, svd: the vectors as well as the values

    constexpr index_t least() const { return std::min(rows, columns); }
    /// Returns the number of columns of the orthogonal factor on the side with `side` rows.
    constexpr index_t factor_columns(index_t side) const { return full ? side : least(); }

    constexpr matrix_sizes sizes(matrix_function f) const {
        const index_t square = columns * columns, factor = factor_columns(rows);
        switch (f) {
        case matrix_function::determinant: return {{square}, {1}};
        case matrix_function::log_determinant: return {{square}, {1, 1}};
        case matrix_function::solve:
        case matrix_function::triangular_solve: return {{square, columns * right}, {columns * right}};
        case matrix_function::qr: return {{rows * columns}, {rows * factor, factor * columns}};
        case matrix_function::self_adjoint_eig: return {{square}, {columns, vectors ? square : 0}};
        case matrix_function::svd:
            return {{rows * columns},
                    {least(), vectors ? rows * factor : 0, vectors ? columns * factor_columns(columns) : 0}};
        default: return {{square}, {square}};
        }
    }
};

}} // namespace rill::RILL_ABI
