// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <complex>
#include <span>
#include <string>
#include <vector>

#include <rill/core/shared.hpp>
#include <rill/device/matrix_task.hpp>
#include <rill/expr/node_op.hpp>

// Shared parts of the ops over batches of matrices: shape rules, the kernel, the errors of refused matrices.

namespace rill { inline namespace RILL_ABI {

namespace rules {

/// Returns the shape of batches of matrices, or the reason why x is not one.
constexpr shape_result matrices(const dims& x) {
    if (!x.known_rank()) return {dims::unknown()};
    return {x, x.rank < 2 ? "matrices are expected, of rank 2 or more" : nullptr};
}
/// Returns the shape of batches of square matrices, or the reason why x is not one.
constexpr shape_result square_matrices(const dims& x) {
    shape_result r = matrices(x);
    if (!r.ok() || !x.known_rank()) return r;
    const index_t rows = x[x.rank - 2], columns = x[x.rank - 1];
    if (!extents_compatible(rows, columns)) return {x, "the matrices are not square"};
    r.shape[x.rank - 2] = r.shape[x.rank - 1] = rows == dyn ? columns : rows;
    return r;
}
/// Returns the shape without its last `axes` axes.
constexpr dims without_last(const dims& x, int axes) {
    dims r;
    for (int i = 0; i < x.rank - axes; ++i) r.push(x[i]);
    return r;
}
/// Returns the shape with the last two extents replaced.
constexpr dims with_matrix(const dims& x, index_t rows, index_t columns) {
    dims r = without_last(x, 2);
    r.push(rows);
    r.push(columns);
    return r;
}
/// Returns the smaller of two extents, or dyn if one is unknown.
constexpr index_t least_extent(index_t a, index_t b) { return a == dyn || b == dyn ? dyn : a < b ? a : b; }

/// Returns the shape of x in a x = b. a is [.., n, n] and b is [.., n, right], with equal batches.
constexpr shape_result solution(const dims& a, const dims& b) {
    const auto square = square_matrices(a), sides = matrices(b);
    if (!square.ok()) return {b, square.broken};
    if (!sides.ok()) return sides;
    if (!a.known_rank()) return {b};
    if (!b.known_rank()) return {dims::unknown()};
    if (a.rank != b.rank) return {b, "matrices and right sides have different ranks"};
    dims r = b;
    for (int i = 0; i < b.rank - 1; ++i) {
        const index_t extent = square.shape[i];
        if (!extents_compatible(extent, b[i]))
            return {b,
                    i < b.rank - 2 ? "the batches differ" : "matrices and right sides have different numbers of rows"};
        if (r[i] == dyn) r[i] = extent;
    }
    return {r};
}

} // namespace rules

/// True if the last two extents of E are those of square matrices.
template <class E> inline constexpr bool are_square = rules::square_matrices(static_dims<E>).ok();
template <class E> inline constexpr bool have_matrices = rules::matrices(static_dims<E>).ok();
/// True if B has a valid shape for the right-hand sides of A x = B.
template <class A, class B> inline constexpr bool has_solution = rules::solution(static_dims<A>, static_dims<B>).ok();

/// The element types of matrices with decompositions.
using matrix_numbers = type_set<float, double, std::complex<float>, std::complex<double>>;

namespace detail {

/// Returns the task of a batch of matrices of this shape.
matrix_task task_of(const dims& x);
/// Returns the task of systems of equations with these shapes.
matrix_task task_of(const dims& a, const dims& b);
/// Returns the site of the error "matrix [2] of float64 [3, 4, 4] is singular".
error_site_ptr matrix_site(const tensor_type& matrices);
/// Returns the shape of a rule's result. Throws invalid_argument with the reason if the rule is broken.
const dims& checked_shape(const shape_result& r);

/// Returns the cost of a function of matrices that takes `factor` n³ operations.
op_cost matrix_cost(std::span<const tensor_type> in, std::span<const tensor_type> out, double factor);

/// Binds a function of matrices to the inputs and outputs of a request.
template <class D, class T, matrix_function F> kernel matrix_kernel(kernel_request& request, const matrix_task& t) {
    request.scratch_bytes = D::template matrix_scratch<F, T>(request.on, t);
    request.shared = D::matrices_are_shared(request.on, t);
    const auto in = static_cast<int>(request.inputs.size()), out = static_cast<int>(request.outputs.size());
    return kernel([=, where = matrix_site(request.inputs[0])](const kernel_args& a) {
        std::array<const T*, 2> from{};
        std::array<T*, 3> to{};
        for (int i = 0; i < in; ++i) from[static_cast<std::size_t>(i)] = a.in<T>(i);
        for (int i = 0; i < out; ++i) to[static_cast<std::size_t>(i)] = a.out<T>(i);
        D::template matrices<F>(a.on, t, from, to, *where);
    });
}

/// Returns the typed handle of output `i` of a node.
template <class X, class Rule> auto output_of(Rule rule, const any_tensor& first, int i) {
    return typed_result<void, X>(rule, any_tensor(endpoint{first.node(), i}));
}

} // namespace detail

}} // namespace rill::RILL_ABI

#if RILL_DEFINE
namespace rill { inline namespace RILL_ABI { namespace detail {

RILL_INLINE matrix_task task_of(const dims& x) {
    matrix_task t;
    t.rows = x[x.rank - 2];
    t.columns = x[x.rank - 1];
    t.count = rules::without_last(x, 2).size();
    return t;
}

RILL_INLINE matrix_task task_of(const dims& a, const dims& b) {
    matrix_task t = task_of(a);
    t.right = b[b.rank - 1];
    return t;
}

RILL_COLD const dims& checked_shape(const shape_result& r) {
    if (!r.ok()) throw invalid_argument(r.reason());
    return r.shape;
}

RILL_INLINE op_cost matrix_cost(std::span<const tensor_type> in, std::span<const tensor_type> out, double factor) {
    const dims& x = in[0].shape;
    return {factor * static_cast<double>(x.size()) * static_cast<double>(std::min(x[x.rank - 2], x[x.rank - 1])),
            total_bytes(in) + total_bytes(out)};
}

class refused_matrix_site final : public error_site {
public:
    explicit refused_matrix_site(const tensor_type& matrices) : matrices_(matrices) {}
    RILL_COLD error describe(const refused_element& found) const override {
        const dims batch = rules::without_last(matrices_.shape, 2);
        std::string text = batch.rank == 0 ? "the matrix" : "matrix " + to_string(rules::position_of(found.at, batch));
        text += " of " + to_string(matrices_);
        switch (static_cast<matrix_fault>(found.value)) {
        case matrix_fault::not_positive_definite: return invalid_argument(text + " is not positive definite");
        case matrix_fault::not_finite: return invalid_argument(text + " holds a NaN or an infinity");
        case matrix_fault::no_convergence: return invalid_argument(text + " has no decomposition that converges");
        default: return invalid_argument(text + " is singular");
        }
    }

private:
    tensor_type matrices_;
};

RILL_COLD error_site_ptr matrix_site(const tensor_type& matrices) {
    return detail::make_shared<const refused_matrix_site>(matrices);
}

}}} // namespace rill::RILL_ABI::detail
#endif
