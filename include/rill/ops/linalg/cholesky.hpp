// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/linalg/matrix_solve.hpp>

namespace rill { inline namespace RILL_ABI {

/// The lower triangular L with L L^H = x, for self-adjoint positive definite matrices [.., n, n]. Only their lower triangles are read, and
/// of complex diagonals the real parts. Gradient: the self-adjoint one, by triangular solves. Other matrices are an invalid_argument.
struct cholesky_op {
    static constexpr auto name = "Cholesky";
    static constexpr bool is_matrix_function = true;
    using domain_type = matrix_numbers;
    using compiled_types = types::floats;
    using brings = joined_ops<detail::matrix_gradient_ops, op_list<matrix_triangular_solve_op>>;

    constexpr shape_result shape(const dims& x) const { return rules::square_matrices(x); }
    std::vector<endpoint> gradient(const gradient_request& r) const;
    op_cost cost(std::span<const tensor_type> in, std::span<const tensor_type> out) const {
        return detail::matrix_cost(in, out, 1. / 3);
    }
    template <class D, class T> kernel bind(kernel_request& request) const {
        return detail::matrix_kernel<D, T, matrix_function::cholesky>(request,
                                                                      detail::task_of(request.inputs[0].shape));
    }
};

/// Returns the lower triangular factor of each matrix of a batch: cholesky(m).
template <graph_operand X>
auto cholesky(const X& x, const std::source_location& where = std::source_location::current()) {
    if constexpr (typed_operand<X>) {
        static_assert(are_square<extents_of<X>>, "cholesky: square matrices are expected, of rank 2 or more");
        static_assert(op_takes<cholesky_op, value_type_of<X>>,
                      "cholesky: the elements must be float, double or complex");
    }
    return apply_node(cholesky_op{}, [](const dims& shape) { return rules::square_matrices(shape); }, where, x);
}

/// Returns x in a x = b, given the factor of a: cholesky_solve(cholesky(a), b).
template <graph_operand L, graph_operand B>
auto cholesky_solve(const L& factor, const B& b, const std::source_location& where = std::source_location::current()) {
    const auto l = sealed(factor); // read twice
    return matrix_triangular_solve(l, matrix_triangular_solve(l, b, true, false, where), true, true, where);
}

}} // namespace rill::RILL_ABI

#if RILL_DEFINE
namespace rill { inline namespace RILL_ABI {

RILL_INLINE std::vector<endpoint> cholesky_op::gradient(const gradient_request& r) const {
    const detail::matrix_gradient<cholesky_op> m(r);
    const endpoint l = r.output(0), product = m.adjoint_product(l, r.gradient());
    const endpoint middle = m.lower_triangle(m.with_diagonal(product, detail::half_of(m.diagonal(product))));
    // the self-adjoint part of L^-H middle L^-1
    const matrix_triangular_solve_op backwards{.lower = true, .adjoint = true};
    const endpoint left = m.add(backwards, {l, middle}), both = m.add(backwards, {l, m.adjoint(left)});
    return {detail::half_of(m.plus_adjoint(both))};
}

}} // namespace rill::RILL_ABI
#endif
