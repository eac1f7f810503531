// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tuple>

#include <rill/ops/linalg/matrix_solve.hpp>

namespace rill { inline namespace RILL_ABI {

/// Asks a decomposition for square orthogonal factors: qr(x, full_matrices), svd(x, full_matrices).
struct full_matrices_t {};
inline constexpr full_matrices_t full_matrices{};

namespace rules {

/// Returns the shape of an orthogonal factor of [.., m, n]. `side` is m if `of_rows`, else n. The factor is [.., side, min(m, n)], or [..,
/// side, side] if `full`.
constexpr shape_result orthogonal_factor(const dims& x, bool of_rows, bool full) {
    const auto r = matrices(x);
    if (!r.ok() || !x.known_rank()) return r;
    const index_t m = x[x.rank - 2], n = x[x.rank - 1], side = of_rows ? m : n;
    return {with_matrix(x, side, full ? side : least_extent(m, n))};
}
constexpr shape_result qr_remainder(const dims& x, bool full) {
    const auto r = matrices(x);
    if (!r.ok() || !x.known_rank()) return r;
    const index_t m = x[x.rank - 2], n = x[x.rank - 1];
    return {with_matrix(x, full ? m : least_extent(m, n), n)};
}

} // namespace rules

/// Orthonormal q [.., m, k] and upper triangular r [.., k, n] with q r = x, by Householder reflections. k is min(m, n), or m with
/// `full_matrices`. The diagonal of r is real. Gradient: TensorFlow's, for matrices with at least as many rows as columns. A matrix with a
/// NaN or an infinity is an invalid_argument.
struct qr_op {
    static constexpr auto name = "Qr";
    static constexpr bool is_matrix_function = true;
    static constexpr int inputs = 1;
    using domain_type = matrix_numbers;
    using compiled_types = types::floats;
    using brings = joined_ops<detail::matrix_gradient_ops, op_list<matrix_triangular_solve_op>>;
    bool full_matrices = false;

    static void fields(auto& op, auto& visit) { visit("full_matrices", op.full_matrices); }
    std::vector<tensor_type> outputs(std::span<const tensor_type> in) const;
    std::vector<endpoint> gradient(const gradient_request& r) const;
    op_cost cost(std::span<const tensor_type> in, std::span<const tensor_type> out) const {
        return detail::matrix_cost(in, out, 4);
    }
    template <class D, class T> kernel bind(kernel_request& request) const {
        matrix_task t = detail::task_of(request.inputs[0].shape);
        t.full = full_matrices;
        return detail::matrix_kernel<D, T, matrix_function::qr>(request, t);
    }
};

namespace detail {

template <bool Full, class X> auto qr(const X& x, const std::source_location& where) {
    if constexpr (typed_operand<X>) {
        static_assert(have_matrices<extents_of<X>>, "qr: matrices are expected, of rank 2 or more");
        static_assert(op_takes<qr_op, value_type_of<X>>, "qr: the elements must be float, double or complex");
    }
    const auto q =
        apply_node(qr_op{Full}, [](const dims& s) { return rules::orthogonal_factor(s, true, Full); }, where, x);
    return std::tuple(q, output_of<X>([](const dims& s) { return rules::qr_remainder(s, Full); }, q, 1));
}

} // namespace detail

/// Returns the QR decomposition x = q r: auto [q, r] = qr(x).
template <graph_operand X> auto qr(const X& x, const std::source_location& where = std::source_location::current()) {
    return detail::qr<false>(x, where);
}
/// Returns the QR decomposition with a square q.
template <graph_operand X>
auto qr(const X& x, full_matrices_t, const std::source_location& where = std::source_location::current()) {
    return detail::qr<true>(x, where);
}

}} // namespace rill::RILL_ABI

#if RILL_DEFINE
namespace rill { inline namespace RILL_ABI {

RILL_INLINE std::vector<tensor_type> qr_op::outputs(std::span<const tensor_type> in) const {
    const auto q = rules::orthogonal_factor(in[0].shape, true, full_matrices),
               r = rules::qr_remainder(in[0].shape, full_matrices);
    return {{in[0].type, detail::checked_shape(q)}, {in[0].type, detail::checked_shape(r)}};
}

RILL_INLINE std::vector<endpoint> qr_op::gradient(const gradient_request& request) const {
    const detail::matrix_gradient<qr_op> m(request);
    const endpoint q = request.output(0), r = request.output(1), dq = request.gradient(0), dr = request.gradient(1);
    if (!dq && !dr) return {{}};
    const dims& shape = type_of(r).shape;
    if (shape.known_rank() && !rules::extents_compatible(shape[shape.rank - 2], shape[shape.rank - 1]))
        throw unimplemented("qr: the gradient of " + to_string(type_of(request.input(0))) +
                            " is not known: it takes as many rows as columns or more, and no full_matrices");
    const auto minus = [&](const endpoint& x) { return detail::apply_to_edges<sub_op>(x, m.adjoint(x)); };
    const auto sum = [](const endpoint& a, const endpoint& b) {
        return !a ? b : !b ? a : detail::apply_to_edges<add_op>(a, b);
    };
    /// Returns x r^-H.
    const auto divided = [&](const endpoint& x) {
        return m.adjoint(m.add(matrix_triangular_solve_op{.lower = false}, {r, m.adjoint(x)}));
    };
    const endpoint qdq = dq ? m.adjoint_product(q, dq) : endpoint{};
    const endpoint both = sum(dq ? minus(qdq) : endpoint{}, dr ? minus(m.product_adjoint(r, dr)) : endpoint{});
    endpoint d = m.product(q, sum(divided(m.lower_triangle(both)), dr));
    if (dq) d = sum(d, divided(detail::apply_to_edges<sub_op>(dq, m.product(q, qdq))));
    if (!detail::is_complex_type(type_of(r).type)) return {d};
    // the diagonal of r stays real, so the gradient loses the imaginary diagonal of r dr^H - dq^H q
    const endpoint rdr = dr ? m.product_adjoint(r, dr) : endpoint{}, dqq = dq ? m.adjoint(qdq) : endpoint{};
    const endpoint rest = !dr   ? detail::apply_to_edges<neg_op>(dqq)
                          : !dq ? rdr
                                : detail::apply_to_edges<sub_op>(rdr, dqq);
    const endpoint diagonal = m.diagonal(rest), mirrored = detail::conjugate_of(diagonal),
                   imaginary = detail::half_of(detail::apply_to_edges<sub_op>(diagonal, mirrored));
    return {sum(d, divided(m.product(q, m.adjoint(m.diagonal_matrix(imaginary)))))};
}

}} // namespace rill::RILL_ABI
#endif
