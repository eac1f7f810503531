// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/linalg/matrix_gradient.hpp>

namespace rill { inline namespace RILL_ABI {

/// The inverses of square matrices [.., n, n]; with `adjoint`, conjugated and transposed. Gradient: -y^H g y^H. Singular matrices are an
/// invalid_argument.
struct matrix_inverse_op {
    static constexpr auto name = "MatrixInverse";
    static constexpr bool is_matrix_function = true;
    using domain_type = matrix_numbers;
    using compiled_types = types::floats;
    using brings = detail::matrix_gradient_ops;
    bool adjoint = false;

    static void fields(auto& op, auto& visit) { visit("adjoint", op.adjoint); }
    constexpr shape_result shape(const dims& x) const { return rules::square_matrices(x); }
    std::vector<endpoint> gradient(const gradient_request& r) const;
    op_cost cost(std::span<const tensor_type> in, std::span<const tensor_type> out) const {
        return detail::matrix_cost(in, out, 2);
    }
    template <class D, class T> kernel bind(kernel_request& request) const {
        matrix_task t = detail::task_of(request.inputs[0].shape);
        t.adjoint = adjoint;
        return detail::matrix_kernel<D, T, matrix_function::inverse>(request, t);
    }
};

/// Returns the inverse of each matrix of a batch: matrix_inverse(m). matrix_inverse(m, true) is its adjoint. For systems of equations,
/// matrix_solve(m, b) is faster and more precise.
template <graph_operand X>
auto matrix_inverse(const X& x, bool adjoint = false,
                    const std::source_location& where = std::source_location::current()) {
    if constexpr (typed_operand<X>) {
        static_assert(are_square<extents_of<X>>, "matrix_inverse: square matrices are expected, of rank 2 or more");
        static_assert(op_takes<matrix_inverse_op, value_type_of<X>>,
                      "matrix_inverse: the elements must be float, double or complex");
    }
    return apply_node(
        matrix_inverse_op{adjoint}, [](const dims& shape) { return rules::square_matrices(shape); }, where, x);
}

}} // namespace rill::RILL_ABI

#if RILL_DEFINE
namespace rill { inline namespace RILL_ABI {

RILL_INLINE std::vector<endpoint> matrix_inverse_op::gradient(const gradient_request& r) const {
    const detail::matrix_gradient<matrix_inverse_op> m(r);
    const endpoint y = r.output(0), g = r.gradient();
    const endpoint d = adjoint ? m.product(m.product_adjoint(y, g), y) : m.product_adjoint(m.adjoint_product(y, g), y);
    return {detail::apply_to_edges<neg_op>(d)};
}

}} // namespace rill::RILL_ABI
#endif
