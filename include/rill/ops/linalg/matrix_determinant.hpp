// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tuple>

#include <rill/ops/linalg/cholesky.hpp>
#include <rill/ops/linalg/matrix_inverse.hpp>
#include <rill/ops/math/log.hpp>
#include <rill/ops/math/real.hpp>
#include <rill/ops/math/reduce_sum.hpp>

namespace rill { inline namespace RILL_ABI {

namespace rules {

/// Returns the shape with one number for each matrix of [.., n, n].
constexpr shape_result determinant(const dims& x) {
    const auto r = square_matrices(x);
    if (!r.ok() || !x.known_rank()) return r;
    return {without_last(x, 2)};
}

} // namespace rules

/// The determinants [..] of square matrices [.., n, n]; 1 for n = 0. Gradient: g y inverse(x)^H, which fails for singular matrices.
struct matrix_determinant_op {
    static constexpr auto name = "MatrixDeterminant";
    static constexpr bool is_matrix_function = true;
    using domain_type = matrix_numbers;
    using compiled_types = types::floats;
    using brings = joined_ops<detail::matrix_gradient_ops, op_list<matrix_inverse_op>>;

    constexpr shape_result shape(const dims& x) const { return rules::determinant(x); }
    std::vector<endpoint> gradient(const gradient_request& r) const;
    op_cost cost(std::span<const tensor_type> in, std::span<const tensor_type> out) const {
        return detail::matrix_cost(in, out, 2. / 3);
    }
    template <class D, class T> kernel bind(kernel_request& request) const {
        return detail::matrix_kernel<D, T, matrix_function::determinant>(request,
                                                                         detail::task_of(request.inputs[0].shape));
    }
};

/// The signs of the determinants of square matrices, and the logarithms of their magnitudes. The logarithms do not overflow. The sign of a
/// complex number has a magnitude of 1, and both results are complex as in TensorFlow. Gradient: g inverse(x)^H of the logarithms; none of
/// the signs.
struct log_matrix_determinant_op {
    static constexpr auto name = "LogMatrixDeterminant";
    static constexpr bool is_matrix_function = true;
    static constexpr int inputs = 1;
    using domain_type = matrix_numbers;
    using compiled_types = types::floats;
    using brings = joined_ops<detail::matrix_gradient_ops, op_list<matrix_inverse_op>>;

    std::vector<tensor_type> outputs(std::span<const tensor_type> in) const;
    std::vector<endpoint> gradient(const gradient_request& r) const;
    op_cost cost(std::span<const tensor_type> in, std::span<const tensor_type> out) const {
        return detail::matrix_cost(in, out, 2. / 3);
    }
    template <class D, class T> kernel bind(kernel_request& request) const {
        return detail::matrix_kernel<D, T, matrix_function::log_determinant>(request,
                                                                             detail::task_of(request.inputs[0].shape));
    }
};

/// Returns the determinant of each matrix of a batch: matrix_determinant(m).
template <graph_operand X>
auto matrix_determinant(const X& x, const std::source_location& where = std::source_location::current()) {
    if constexpr (typed_operand<X>) {
        static_assert(are_square<extents_of<X>>, "matrix_determinant: square matrices are expected, of rank 2 or more");
        static_assert(op_takes<matrix_determinant_op, value_type_of<X>>,
                      "matrix_determinant: the elements must be float, double or complex");
    }
    return apply_node(matrix_determinant_op{}, [](const dims& shape) { return rules::determinant(shape); }, where, x);
}

/// Returns the sign and the logarithm of each determinant: auto [sign, log_abs] = log_matrix_determinant(m). The determinant is sign *
/// exp(log_abs).
template <graph_operand X>
auto log_matrix_determinant(const X& x, const std::source_location& where = std::source_location::current()) {
    if constexpr (typed_operand<X>) {
        static_assert(are_square<extents_of<X>>,
                      "log_matrix_determinant: square matrices are expected, of rank 2 or more");
        static_assert(op_takes<log_matrix_determinant_op, value_type_of<X>>,
                      "log_matrix_determinant: the elements must be float, double or complex");
    }
    constexpr auto rule = [](const dims& shape) { return rules::determinant(shape); };
    const auto sign = apply_node(log_matrix_determinant_op{}, rule, where, x);
    return std::tuple(sign, detail::output_of<X>(rule, sign, 1));
}

/// Returns the logarithms of the determinants of positive definite matrices, by cholesky: logdet(m). They are real.
template <graph_operand X>
auto logdet(const X& x, const std::source_location& where = std::source_location::current()) {
    const auto diagonal = detail::real_parts_of(sealed(matrix_diag_part(cholesky(x, where), where)), where);
    return reduce_sum<-1>(log(diagonal), where) * 2;
}

}} // namespace rill::RILL_ABI

#if RILL_DEFINE
namespace rill { inline namespace RILL_ABI {

RILL_INLINE std::vector<endpoint> matrix_determinant_op::gradient(const gradient_request& r) const {
    const detail::matrix_gradient<matrix_determinant_op> m(r);
    const endpoint inverse = m.add(matrix_inverse_op{.adjoint = true}, {r.input(0)});
    const endpoint factor = detail::apply_to_edges<mul_op>(r.gradient(), detail::conjugate_of(r.output(0)));
    return {detail::apply_to_edges<mul_op>(m.scalar(factor), inverse)};
}

RILL_INLINE std::vector<tensor_type> log_matrix_determinant_op::outputs(std::span<const tensor_type> in) const {
    const auto r = rules::determinant(in[0].shape);
    const tensor_type one{in[0].type, detail::checked_shape(r)};
    return {one, one};
}

RILL_INLINE std::vector<endpoint> log_matrix_determinant_op::gradient(const gradient_request& r) const {
    if (!r.gradient(1)) return {{}};
    const detail::matrix_gradient<log_matrix_determinant_op> m(r);
    const endpoint inverse = m.add(matrix_inverse_op{.adjoint = true}, {r.input(0)});
    return {detail::apply_to_edges<mul_op>(m.scalar(detail::without_imaginary(r.gradient(1))), inverse)};
}

}} // namespace rill::RILL_ABI
#endif
