// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/array/expand_dims.hpp>
#include <rill/ops/linalg/batch_matmul.hpp>
#include <rill/ops/linalg/matrix_band_part.hpp>
#include <rill/ops/linalg/matrix_diag.hpp>
#include <rill/ops/linalg/matrix_transpose.hpp>
#include <rill/ops/math/add.hpp>
#include <rill/ops/math/conj.hpp>
#include <rill/ops/math/mul.hpp>
#include <rill/ops/math/neg.hpp>
#include <rill/ops/math/reciprocal.hpp>
#include <rill/ops/math/square.hpp>
#include <rill/ops/math/sub.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

/// The ops that gradients of matrix functions use, for `brings`.
using matrix_gradient_ops =
    op_list<batch_matmul_op, expand_dims_op, matrix_band_part_op, matrix_diag_op, matrix_diag_part_op,
            matrix_set_diag_op, matrix_transpose_op, add_op, conj_op, mul_op, neg_op, reciprocal_op, square_op, sub_op>;

/// Returns half of each element.
endpoint half_of(const endpoint& x);
/// Returns the real part of each element, in the type of x. For the gradients of results whose imaginary parts are always 0.
endpoint without_imaginary(const endpoint& x);

/// A builder of the nodes of Op's gradient, with the operations of its formula.
template <class Op> class matrix_gradient {
public:
    explicit matrix_gradient(const gradient_request& r) : r_(r) {}

    endpoint product(const endpoint& a, const endpoint& b) const { return add(batch_matmul_op{}, {a, b}); }
    /// Returns a^H b.
    endpoint adjoint_product(const endpoint& a, const endpoint& b) const {
        return add(batch_matmul_op{true, false}, {conjugate_of(a), b});
    }
    /// Returns a b^H.
    endpoint product_adjoint(const endpoint& a, const endpoint& b) const {
        return add(batch_matmul_op{false, true}, {a, conjugate_of(b)});
    }
    endpoint adjoint(const endpoint& x) const { return add(matrix_transpose_op{}, {conjugate_of(x)}); }
    endpoint plus_adjoint(const endpoint& x) const { return apply_to_edges<add_op>(x, adjoint(x)); }
    endpoint diagonal(const endpoint& x) const { return add(matrix_diag_part_op{}, {x}); }
    endpoint with_diagonal(const endpoint& x, const endpoint& d) const { return add(matrix_set_diag_op{}, {x, d}); }
    endpoint diagonal_matrix(const endpoint& d) const { return add(matrix_diag_op{}, {d}); }
    endpoint lower_triangle(const endpoint& x) const { return add(matrix_band_part_op{-1, 0}, {x}); }
    endpoint upper_triangle(const endpoint& x) const { return add(matrix_band_part_op{0, -1}, {x}); }
    /// Returns one vector per batch element as a row; column() as a column.
    endpoint row(const endpoint& v) const { return add(expand_dims_op{{}, -2}, {v}); }
    endpoint column(const endpoint& v) const { return add(expand_dims_op{{}, -1}, {v}); }
    /// Returns one number per batch element as a matrix of one element.
    endpoint scalar(const endpoint& v) const { return column(column(v)); }

    /// Returns the matrix of 1 / (d_j - d_i), with zeros on its diagonal.
    endpoint reciprocal_differences(const endpoint& d) const {
        const endpoint differences = apply_to_edges<sub_op>(row(d), column(d));
        // ones on the diagonal before the division: an infinity there would turn into NaN
        const endpoint safe = with_diagonal(differences, filled_like(d, 1));
        return with_diagonal(apply_to_edges<reciprocal_op>(safe), filled_like(d, 0));
    }

    template <class Other> endpoint add(Other op, endpoint_list inputs) const {
        return r_.add<Op>(std::move(op), std::move(inputs));
    }

private:
    const gradient_request& r_;
};

}}} // namespace rill::RILL_ABI::detail

#if RILL_DEFINE
namespace rill { inline namespace RILL_ABI { namespace detail {

RILL_INLINE endpoint half_of(const endpoint& x) {
    untyped_arguments all{{x}, {}, {0, ~0}};
    all.scalars.push_back(literal_scalar(type_of(x).type, 0.5, mul_op::name));
    return apply_untyped(info_of<mul_op>, dtype::invalid, std::move(all), graph(*x.from->owner));
}

RILL_INLINE endpoint without_imaginary(const endpoint& x) {
    return is_complex_type(type_of(x).type) ? half_of(apply_to_edges<add_op>(x, conjugate_of(x))) : x;
}

}}} // namespace rill::RILL_ABI::detail
#endif
