// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/linalg/matrix_op.hpp>

// The diagonals of matrices: three ops, which appear in each other's gradients.

namespace rill { inline namespace RILL_ABI {

struct matrix_diag_op;
struct matrix_diag_part_op;
struct matrix_set_diag_op;

namespace rules {

constexpr shape_result matrix_diag(const dims& x) {
    if (!x.known_rank()) return {dims::unknown()};
    if (x.rank == 0) return {x, "a scalar is not a diagonal"};
    if (x.rank == max_rank) return {x, "the result would have more than 8 dimensions"};
    dims r = x;
    r.push(x[x.rank - 1]);
    return {r};
}
constexpr shape_result matrix_diag_part(const dims& x) {
    const auto r = matrices(x);
    if (!r.ok() || !x.known_rank()) return {r.shape, r.broken};
    dims part = without_last(x, 2);
    part.push(least_extent(x[x.rank - 2], x[x.rank - 1]));
    return {part};
}
constexpr shape_result matrix_set_diag(const dims& x, const dims& diagonal) {
    const auto part = matrix_diag_part(x);
    if (!part.ok()) return {x, part.broken};
    return {x, compatible(part.shape, diagonal) ? nullptr : "the diagonal has another shape than that of the matrices"};
}

} // namespace rules

namespace detail {

/// The layout of diagonals in vectors and in contiguous matrices.
struct diagonal_layout {
    index_t count = 1, rows = 0, columns = 0;

    index_t length() const { return std::min(rows, columns); }
    index_t size() const { return count * rows * columns; }
    bool empty() const { return count * length() == 0; }
    /// Returns the layout of a copy from vectors (or matrices) to matrices (or vectors).
    strided_layout layout(bool from_matrices, bool to_matrices) const;
};
diagonal_layout diagonals_of(const dims& matrices);

} // namespace detail

/// Square matrices [.., n, n] with the vectors [.., n] on their diagonals and zeros elsewhere. Gradient: the diagonals of g.
struct matrix_diag_op {
    static constexpr auto name = "MatrixDiag";
    using domain_type = domains::numeric;
    using compiled_types = types::numbers;
    using brings = op_list<matrix_diag_part_op>;

    constexpr shape_result shape(const dims& x) const { return rules::matrix_diag(x); }
    std::vector<endpoint> gradient(const gradient_request& r) const;
    template <class D, class T> kernel bind(kernel_request& request) const {
        const auto d = detail::diagonals_of(request.outputs[0].shape);
        return kernel([=, l = d.layout(false, true)](const kernel_args& a) {
            D::fill(a.on, d.size(), a.out<T>(0), T(0));
            if (!d.empty()) D::copy(a.on, a.in<T>(0), a.out<T>(0), l);
        });
    }
};

/// The diagonals [.., min(m, n)] of matrices [.., m, n]. Gradient: zeros with g on the diagonal.
struct matrix_diag_part_op {
    static constexpr auto name = "MatrixDiagPart";
    using domain_type = domains::numeric;
    using compiled_types = types::numbers;
    using brings = op_list<matrix_set_diag_op>;

    constexpr shape_result shape(const dims& x) const { return rules::matrix_diag_part(x); }
    std::vector<endpoint> gradient(const gradient_request& r) const;
    template <class D, class T> kernel bind(kernel_request& request) const {
        const auto d = detail::diagonals_of(request.inputs[0].shape);
        return kernel([=, l = d.layout(true, false)](const kernel_args& a) {
            if (!d.empty()) D::copy(a.on, a.in<T>(0), a.out<T>(0), l);
        });
    }
};

/// Matrices [.., m, n] with their diagonals [.., min(m, n)] replaced. Gradients: g with zeros on its diagonal, and the diagonal of g.
struct matrix_set_diag_op {
    static constexpr auto name = "MatrixSetDiag";
    using domain_type = domains::numeric;
    using compiled_types = types::numbers;
    using brings = op_list<matrix_diag_part_op>;

    constexpr shape_result shape(const dims& x, const dims& diagonal) const {
        return rules::matrix_set_diag(x, diagonal);
    }
    std::vector<endpoint> gradient(const gradient_request& r) const;
    template <class D, class T> kernel bind(kernel_request& request) const {
        const auto d = detail::diagonals_of(request.inputs[0].shape);
        return kernel([=, type = request.inputs[0].type, l = d.layout(false, true)](const kernel_args& a) {
            if (d.size() > 0) D::copy(a.on, type, a.in<T>(0), a.out<T>(0), d.size());
            if (!d.empty()) D::copy(a.on, a.in<T>(1), a.out<T>(0), l);
        });
    }
};

/// True if vectors of shape F fit as diagonals of matrices of shape E.
template <class E, class F> inline constexpr bool diagonal_fits = rules::matrix_set_diag(static_dims<E>, static_dims<F>).ok();
template <class E> inline constexpr bool may_be_diagonal = rules::matrix_diag(static_dims<E>).ok();

/// Returns matrices with the given diagonals: matrix_diag(x). [.., n] becomes [.., n, n].
template <graph_operand X>
auto matrix_diag(const X& x, const std::source_location& where = std::source_location::current()) {
    if constexpr (typed_operand<X>)
        static_assert(may_be_diagonal<extents_of<X>>, "matrix_diag: vectors are expected, of rank 1 to 7");
    return apply_node(matrix_diag_op{}, [](const dims& shape) { return rules::matrix_diag(shape); }, where, x);
}

/// Returns the diagonals of matrices: matrix_diag_part(x). [.., m, n] becomes [.., min(m, n)].
template <graph_operand X>
auto matrix_diag_part(const X& x, const std::source_location& where = std::source_location::current()) {
    if constexpr (typed_operand<X>)
        static_assert(have_matrices<extents_of<X>>, "matrix_diag_part: matrices are expected, of rank 2 or more");
    return apply_node(
        matrix_diag_part_op{}, [](const dims& shape) { return rules::matrix_diag_part(shape); }, where, x);
}

/// Returns x with its diagonals replaced by d: matrix_set_diag(x, d).
template <graph_operand X, graph_operand V>
auto matrix_set_diag(const X& x, const V& diagonal,
                     const std::source_location& where = std::source_location::current()) {
    if constexpr (typed_operand<X> && typed_operand<V>) {
        static_assert(diagonal_fits<extents_of<X>, extents_of<V>>,
                      "matrix_set_diag: the diagonal must be [.., min(m, n)] for matrices [.., m, n]");
        static_assert(dtypes_agree<dtype_tag<X>, dtype_tag<V>>,
                      "matrix_set_diag: the dtypes differ; convert with cast<T>()");
    }
    return apply_node(matrix_set_diag_op{}, detail::shape_of_first, where, x, diagonal);
}

}} // namespace rill::RILL_ABI

#if RILL_DEFINE
namespace rill { inline namespace RILL_ABI {

namespace detail {

RILL_INLINE diagonal_layout diagonals_of(const dims& matrices) {
    return {rules::without_last(matrices, 2).size(), matrices[matrices.rank - 2], matrices[matrices.rank - 1]};
}

RILL_INLINE strided_layout diagonal_layout::layout(bool from_matrices, bool to_matrices) const {
    const index_t matrix = rows * columns, vector = length(), step = columns + 1;
    strided_layout l;
    l.push(count, from_matrices ? matrix : vector, to_matrices ? matrix : vector);
    l.push(vector, from_matrices ? step : 1, to_matrices ? step : 1);
    l.collapse();
    return l;
}

} // namespace detail

RILL_INLINE std::vector<endpoint> matrix_diag_op::gradient(const gradient_request& r) const {
    return {r.add<matrix_diag_op>(matrix_diag_part_op{}, {r.gradient()})};
}

RILL_INLINE std::vector<endpoint> matrix_diag_part_op::gradient(const gradient_request& r) const {
    const endpoint zeros = detail::filled_like(r.input(0), 0);
    return {r.add<matrix_diag_part_op>(matrix_set_diag_op{}, {zeros, r.gradient()})};
}

RILL_INLINE std::vector<endpoint> matrix_set_diag_op::gradient(const gradient_request& r) const {
    std::vector<endpoint> d(2);
    if (r.wanted[0]) d[0] = r.add<matrix_set_diag_op>(*this, {r.gradient(), detail::filled_like(r.input(1), 0)});
    if (r.wanted[1]) d[1] = r.add<matrix_set_diag_op>(matrix_diag_part_op{}, {r.gradient()});
    return d;
}

}} // namespace rill::RILL_ABI
#endif
