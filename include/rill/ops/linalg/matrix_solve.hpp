// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/linalg/matrix_gradient.hpp>

namespace rill { inline namespace RILL_ABI {

namespace detail {

/// Returns the gradients of x in op(a) x = b, given the op that solves op(a)^H y = g. `of_matrix` maps the gradient of an unstructured a to
/// that of a.
template <class Op, class OfMatrix>
std::vector<endpoint> solution_gradients(const gradient_request& r, bool adjoint, Op backwards,
                                         const OfMatrix& of_matrix) {
    const matrix_gradient<Op> m(r);
    const endpoint x = r.output(0), db = m.add(backwards, {r.input(0), r.gradient()});
    std::vector<endpoint> d(2);
    if (r.wanted[0]) {
        const endpoint product = adjoint ? m.product_adjoint(x, db) : m.product_adjoint(db, x);
        d[0] = of_matrix(m, apply_to_edges<neg_op>(product));
    }
    if (r.wanted[1]) d[1] = db;
    return d;
}

} // namespace detail

/// The solutions x of a x = b, or of a^H x = b with `adjoint`. a: square matrices [.., n, n]; b: right-hand sides [.., n, k]. Gradients:
/// for b the solution z of a^H z = g; for a, -z x^H.
struct matrix_solve_op {
    static constexpr auto name = "MatrixSolve";
    static constexpr bool is_matrix_function = true;
    using domain_type = matrix_numbers;
    using compiled_types = types::floats;
    using brings = detail::matrix_gradient_ops;
    bool adjoint = false;

    static void fields(auto& op, auto& visit) { visit("adjoint", op.adjoint); }
    constexpr shape_result shape(const dims& a, const dims& b) const { return rules::solution(a, b); }
    std::vector<endpoint> gradient(const gradient_request& r) const;
    op_cost cost(std::span<const tensor_type> in, std::span<const tensor_type> out) const {
        return detail::matrix_cost(in, out, 2);
    }
    template <class D, class T> kernel bind(kernel_request& request) const {
        matrix_task t = detail::task_of(request.inputs[0].shape, request.inputs[1].shape);
        t.adjoint = adjoint;
        return detail::matrix_kernel<D, T, matrix_function::solve>(request, t);
    }
};

/// The solutions x of a x = b with triangular a, or of a^H x = b with `adjoint`. Only the lower or the upper triangle of a is read.
/// Gradients: those of MatrixSolve, within the triangle.
struct matrix_triangular_solve_op {
    static constexpr auto name = "MatrixTriangularSolve";
    static constexpr bool is_matrix_function = true;
    using domain_type = matrix_numbers;
    using compiled_types = types::floats;
    using brings = detail::matrix_gradient_ops;
    bool lower = true, adjoint = false;

    static void fields(auto& op, auto& visit) {
        visit("lower", op.lower);
        visit("adjoint", op.adjoint);
    }
    constexpr shape_result shape(const dims& a, const dims& b) const { return rules::solution(a, b); }
    std::vector<endpoint> gradient(const gradient_request& r) const;
    op_cost cost(std::span<const tensor_type> in, std::span<const tensor_type> out) const {
        return detail::matrix_cost(in, out, 1);
    }
    template <class D, class T> kernel bind(kernel_request& request) const {
        matrix_task t = detail::task_of(request.inputs[0].shape, request.inputs[1].shape);
        t.lower = lower;
        t.adjoint = adjoint;
        return detail::matrix_kernel<D, T, matrix_function::triangular_solve>(request, t);
    }
};

namespace detail {

template <class Op, class A, class B> constexpr void check_solution() {
    if constexpr (typed_operand<A>)
        static_assert(are_square<extents_of<A>>, "matrix_solve: square matrices are expected, of rank 2 or more");
    if constexpr (typed_operand<A> && typed_operand<B>) {
        static_assert(has_solution<extents_of<A>, extents_of<B>>,
                      "matrix_solve: the right sides must be [.., n, k] for matrices [.., n, n]");
        static_assert(dtypes_agree<rill::dtype_tag<A>, rill::dtype_tag<B>>,
                      "matrix_solve: the dtypes differ; convert with cast<T>()");
        static_assert(op_takes<Op, value_type_of<A>>, "matrix_solve: the elements must be float, double or complex");
    }
}
inline constexpr auto solution_rule = [](const dims& a, const dims& b) { return rules::solution(a, b); };

} // namespace detail

/// Returns x in a x = b: matrix_solve(a, b). matrix_solve(a, b, true) solves a^H x = b.
template <graph_operand A, graph_operand B>
auto matrix_solve(const A& a, const B& b, bool adjoint = false,
                  const std::source_location& where = std::source_location::current()) {
    detail::check_solution<matrix_solve_op, A, B>();
    return apply_node(matrix_solve_op{adjoint}, detail::solution_rule, where, a, b);
}

/// Returns x in a x = b, reading one triangle of a: matrix_triangular_solve(a, b, lower, adjoint).
template <graph_operand A, graph_operand B>
auto matrix_triangular_solve(const A& a, const B& b, bool lower = true, bool adjoint = false,
                             const std::source_location& where = std::source_location::current()) {
    detail::check_solution<matrix_triangular_solve_op, A, B>();
    return apply_node(matrix_triangular_solve_op{lower, adjoint}, detail::solution_rule, where, a, b);
}

}} // namespace rill::RILL_ABI

#if RILL_DEFINE
namespace rill { inline namespace RILL_ABI {

RILL_INLINE std::vector<endpoint> matrix_solve_op::gradient(const gradient_request& r) const {
    return detail::solution_gradients(r, adjoint, matrix_solve_op{!adjoint},
                                      [](const auto&, const endpoint& product) { return product; });
}

RILL_INLINE std::vector<endpoint> matrix_triangular_solve_op::gradient(const gradient_request& r) const {
    return detail::solution_gradients(r, adjoint, matrix_triangular_solve_op{lower, !adjoint},
                                      [this](const auto& m, const endpoint& product) {
                                          return lower ? m.lower_triangle(product) : m.upper_triangle(product);
                                      });
}

}} // namespace rill::RILL_ABI
#endif
