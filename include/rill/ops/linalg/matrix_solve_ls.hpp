// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/linalg/cholesky.hpp>
#include <rill/ops/linalg/matmul.hpp>
#include <rill/ops/linalg/svd.hpp>

namespace rill { inline namespace RILL_ABI {

struct least_squares_options {
    double l2_regularizer = 0; // times |x|² is added to the objective
    bool fast = true;          // by cholesky of the normal equations; else by svd: slower, for any rank
};

namespace detail {

/// Returns x in (a + l2 I) x = b, for positive definite a.
template <class A, class B> auto solve_normal(const A& a, const B& b, double l2, const std::source_location& where) {
    const auto square = sealed(a);
    const auto regular = matrix_set_diag(square, matrix_diag_part(square, where) + l2, where);
    return cholesky_solve(cholesky(regular, where), b, where);
}

} // namespace detail

/// Returns x [.., n, k] with the least |a x - b|²: matrix_solve_ls(a, b), for a [.., m, n] and b [.., m, k]. If there are fewer rows than
/// columns, the result is the x with the least norm. An unknown number of rows is taken as at least the number of columns. As in
/// TensorFlow, only the fast form uses the regularizer.
template <graph_operand A, graph_operand B>
auto matrix_solve_ls(const A& a, const B& b, const least_squares_options& options = {},
                     const std::source_location& where = std::source_location::current()) {
    if constexpr (typed_operand<A>)
        static_assert(have_matrices<extents_of<A>>, "matrix_solve_ls: matrices are expected, of rank 2 or more");
    const auto m = sealed(a);
    const dims shape = detail::operand_type(m).shape;
    const index_t rows = rules::extent_along(shape, -2), columns = rules::extent_along(shape, -1);
    if (options.fast && columns == dyn)
        throw invalid_argument("matrix_solve_ls: the fast form must know the number of columns" +
                               detail::at_place(where));
    const auto t = adjoint(m, where);
    const auto made = [&]() -> any_tensor {
        const double l2 = options.l2_regularizer;
        if (!options.fast) return any_tensor(matmul(pinv(m, -1, where), b, where));
        if (rows == dyn || rows >= columns)
            return any_tensor(detail::solve_normal(matmul(t, m, where), matmul(t, b, where), l2, where));
        return any_tensor(matmul(t, detail::solve_normal(matmul(m, t, where), b, l2, where), where));
    };
    if constexpr (typed_operand<A> && typed_operand<B>)
        return decltype(matmul(t, b, where))(detail::unchecked, made());
    else
        return made();
}

/// Does the same as matrix_solve_ls, under its newer name.
template <graph_operand A, graph_operand B>
auto lstsq(const A& a, const B& b, const least_squares_options& options = {},
           const std::source_location& where = std::source_location::current()) {
    return matrix_solve_ls(a, b, options, where);
}

}} // namespace rill::RILL_ABI
