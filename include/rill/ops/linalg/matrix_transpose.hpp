// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/array/transpose.hpp>
#include <rill/ops/linalg/matrix_op.hpp>
#include <rill/ops/math/conj.hpp>

namespace rill { inline namespace RILL_ABI {

namespace rules {

/// Returns the shape with the last two axes swapped.
constexpr shape_result matrix_transpose(const dims& x) {
    const auto r = matrices(x);
    if (!r.ok() || !x.known_rank()) return r;
    return {with_matrix(x, x[x.rank - 1], x[x.rank - 2])};
}

} // namespace rules

/// The transposes of the matrices of a batch [.., m, n], of any rank. Gradient: g, transposed.
struct matrix_transpose_op {
    static constexpr auto name = "MatrixTranspose";
    using domain_type = domains::any;
    using compiled_types = types::numbers;

    constexpr shape_result shape(const dims& x) const { return rules::matrix_transpose(x); }
    std::vector<endpoint> gradient(const gradient_request& r) const;
    template <class D, class T> kernel bind(kernel_request& request) const {
        const matrix_task t = detail::task_of(request.inputs[0].shape);
        detail::strided_layout l;
        l.push(t.count, t.rows * t.columns, t.rows * t.columns);
        l.push(t.rows, t.columns, 1);
        l.push(t.columns, 1, t.rows);
        l.collapse();
        const bool empty = request.inputs[0].shape.size() == 0;
        return kernel([=](const kernel_args& a) {
            if (!empty) D::copy(a.on, a.in<T>(0), a.out<T>(0), l);
        });
    }
};

/// Returns the transpose of each matrix: matrix_transpose(x). [.., m, n] becomes [.., n, m]. A product reads the
/// transpose of one matrix in place, as transpose(m).
template <graph_operand X>
auto matrix_transpose(const X& x, const std::source_location& where = std::source_location::current()) {
    if constexpr (typed_operand<X>) {
        static_assert(have_matrices<extents_of<X>>, "matrix_transpose: matrices are expected, of rank 2 or more");
        if constexpr (extents_of<X>::rank == 2)
            return transpose<1, 0>(x, where);
        else
            return apply_node(
                matrix_transpose_op{}, [](const dims& shape) { return rules::matrix_transpose(shape); }, where, x);
    } else {
        if (detail::is_null(x)) detail::refuse_null("matrix_transpose", where);
        return detail::rank_of(x) == 2 ? any_tensor(transpose(x, axis_list{1, 0}, where))
                                       : apply_node(matrix_transpose_op{}, where, x);
    }
}

/// Returns the conjugate transpose of each matrix: adjoint(x).
template <graph_operand X>
auto adjoint(const X& x, const std::source_location& where = std::source_location::current()) {
    if constexpr (!typed_operand<X>) {
        const any_tensor turned = matrix_transpose(x, where);
        // a real transpose stays plain, for products that read it in place
        return detail::is_complex_type(turned.dtype()) ? any_tensor(conj(turned)) : turned;
    } else if constexpr (is_complex<value_type_of<X>>) {
        return sealed(conj(matrix_transpose(x, where)));
    } else {
        return matrix_transpose(x, where);
    }
}

}} // namespace rill::RILL_ABI

#if RILL_DEFINE
namespace rill { inline namespace RILL_ABI {

RILL_INLINE std::vector<endpoint> matrix_transpose_op::gradient(const gradient_request& r) const {
    return {r.add<matrix_transpose_op>(*this, {r.gradient()})};
}

}} // namespace rill::RILL_ABI
#endif
