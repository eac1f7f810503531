// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tuple>

#include <rill/ops/linalg/matrix_gradient.hpp>

namespace rill { inline namespace RILL_ABI {

namespace rules {

/// Returns the shape of the eigenvalues of [.., n, n].
constexpr shape_result eigenvalues(const dims& x) {
    const auto r = square_matrices(x);
    if (!r.ok() || !x.known_rank()) return r;
    return {without_last(r.shape, 1)};
}

} // namespace rules

/// The eigenvalues [.., n] of self-adjoint matrices in ascending order and, with `compute_v`, their eigenvectors as columns [.., n, n]. Only
/// the lower triangles are read, and of complex diagonals the real parts. As in TensorFlow, the eigenvalues have the type of the matrices;
/// their imaginary parts are 0. Gradient: TensorFlow's, which requires distinct eigenvalues if the vectors are used.
struct self_adjoint_eig_op {
    static constexpr auto name = "SelfAdjointEigV2", label = "self_adjoint_eig";
    static constexpr bool is_matrix_function = true;
    static constexpr int inputs = 1;
    using domain_type = matrix_numbers;
    using compiled_types = types::floats;
    using brings = detail::matrix_gradient_ops;
    bool compute_v = true;

    static void fields(auto& op, auto& visit) { visit("compute_v", op.compute_v); }
    std::vector<tensor_type> outputs(std::span<const tensor_type> in) const;
    std::vector<endpoint> gradient(const gradient_request& r) const;
    op_cost cost(std::span<const tensor_type> in, std::span<const tensor_type> out) const {
        return detail::matrix_cost(in, out, compute_v ? 10 : 4);
    }
    template <class D, class T> kernel bind(kernel_request& request) const {
        matrix_task t = detail::task_of(request.inputs[0].shape);
        t.vectors = compute_v;
        return detail::matrix_kernel<D, T, matrix_function::self_adjoint_eig>(request, t);
    }
};

namespace detail {

inline constexpr auto eigenvalue_rule = [](const dims& shape) { return rules::eigenvalues(shape); };

template <class X> auto eigenvalues(const X& x, bool vectors, const std::source_location& where) {
    if constexpr (typed_operand<X>) {
        static_assert(are_square<extents_of<X>>, "self_adjoint_eig: square matrices are expected, of rank 2 or more");
        static_assert(op_takes<self_adjoint_eig_op, value_type_of<X>>,
                      "self_adjoint_eig: the elements must be float, double or complex");
    }
    return apply_node(self_adjoint_eig_op{vectors}, eigenvalue_rule, where, x);
}

} // namespace detail

/// Returns eigenvalues and eigenvectors: auto [e, v] = self_adjoint_eig(m). Column by column, matmul(m, v) is v times e.
template <graph_operand X>
auto self_adjoint_eig(const X& x, const std::source_location& where = std::source_location::current()) {
    const auto e = detail::eigenvalues(x, true, where);
    return std::tuple(e, detail::output_of<X>([](const dims& shape) { return rules::square_matrices(shape); }, e, 1));
}

/// Returns the eigenvalues alone, which takes less time.
template <graph_operand X>
auto self_adjoint_eigvals(const X& x, const std::source_location& where = std::source_location::current()) {
    return detail::eigenvalues(x, false, where);
}

}} // namespace rill::RILL_ABI

#if RILL_DEFINE
namespace rill { inline namespace RILL_ABI {

RILL_INLINE std::vector<tensor_type> self_adjoint_eig_op::outputs(std::span<const tensor_type> in) const {
    const auto values = rules::eigenvalues(in[0].shape), vectors = rules::square_matrices(in[0].shape);
    std::vector<tensor_type> all{{in[0].type, detail::checked_shape(values)}};
    if (compute_v) all.push_back({in[0].type, vectors.shape});
    return all;
}

RILL_INLINE std::vector<endpoint> self_adjoint_eig_op::gradient(const gradient_request& r) const {
    const detail::matrix_gradient<self_adjoint_eig_op> m(r);
    const endpoint de = r.gradient(0), dv = compute_v ? r.gradient(1) : endpoint{};
    if (!de && !dv) return {{}};
    endpoint e = r.output(0), v;
    if (compute_v)
        v = r.output(1);
    else
        e = m.add(self_adjoint_eig_op{true}, {r.input(0)}), v = {e.from, 1};
    endpoint middle = de ? m.diagonal_matrix(de) : endpoint{};
    if (dv) {
        const endpoint turned = detail::apply_to_edges<mul_op>(m.reciprocal_differences(e), m.adjoint_product(v, dv));
        middle = middle ? detail::apply_to_edges<add_op>(middle, turned) : turned;
    }
    const endpoint d = m.plus_adjoint(m.product(v, m.product_adjoint(middle, v)));
    // an element below the diagonal counts for its mirror element too
    return {m.with_diagonal(m.lower_triangle(d), detail::half_of(m.diagonal(d)))};
}

}} // namespace rill::RILL_ABI
#endif
