// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <limits>
#include <tuple>

#include <rill/ops/array/shape.hpp>
#include <rill/ops/array/subscript.hpp>
#include <rill/ops/linalg/matmul.hpp>
#include <rill/ops/linalg/qr.hpp>
#include <rill/ops/math/add.hpp>
#include <rill/ops/math/cast.hpp>
#include <rill/ops/math/div.hpp>
#include <rill/ops/math/greater.hpp>
#include <rill/ops/math/maximum.hpp>
#include <rill/ops/math/mul.hpp>
#include <rill/ops/math/real.hpp>
#include <rill/ops/math/reduce_l2_norm.hpp>
#include <rill/ops/math/reduce_max.hpp>
#include <rill/ops/math/reduce_sum.hpp>
#include <rill/ops/math/select.hpp>

namespace rill { inline namespace RILL_ABI {

namespace rules {

/// Returns the shape of the singular values of [.., m, n].
constexpr shape_result singular_values(const dims& x) {
    const auto r = matrices(x);
    if (!r.ok() || !x.known_rank()) return r;
    dims s = without_last(x, 2);
    s.push(least_extent(x[x.rank - 2], x[x.rank - 1]));
    return {s};
}

} // namespace rules

/// The singular values s [.., k] of matrices x [.., m, n] in descending order, and singular vectors. With `compute_uv`, u [.., m, k] and v
/// [.., n, k] are orthonormal with u diag(s) v^H = x. k is min(m, n); with `full_matrices` u and v are square. As in TensorFlow, the values
/// of the op have the type of the matrices. Gradient: TensorFlow's, which requires distinct singular values above 0 if the vectors are used.
struct svd_op {
    static constexpr auto name = "Svd";
    static constexpr bool is_matrix_function = true;
    static constexpr int inputs = 1;
    using domain_type = matrix_numbers;
    using compiled_types = types::floats;
    using brings = detail::matrix_gradient_ops;
    bool compute_uv = true, full_matrices = false;

    static void fields(auto& op, auto& visit) {
        visit("compute_uv", op.compute_uv);
        visit("full_matrices", op.full_matrices);
    }
    std::vector<tensor_type> outputs(std::span<const tensor_type> in) const;
    std::vector<endpoint> gradient(const gradient_request& r) const;
    op_cost cost(std::span<const tensor_type> in, std::span<const tensor_type> out) const {
        return detail::matrix_cost(in, out, compute_uv ? 20 : 8);
    }
    template <class D, class T> kernel bind(kernel_request& request) const {
        matrix_task t = detail::task_of(request.inputs[0].shape);
        t.vectors = compute_uv;
        t.full = full_matrices;
        return detail::matrix_kernel<D, T, matrix_function::svd>(request, t);
    }
};

namespace detail {

inline constexpr auto singular_value_rule = [](const dims& shape) { return rules::singular_values(shape); };

/// True if the operand's type has both extents of its matrices.
template <class X> inline constexpr bool knows_last_extents = false;
template <typed_operand X>
inline constexpr bool knows_last_extents<X> =
    rules::extent_along(extents_of<X>::value, -2) != dyn && rules::extent_along(extents_of<X>::value, -1) != dyn;

template <class X> auto singular_values(const svd_op& op, const X& x, const std::source_location& where) {
    if constexpr (typed_operand<X>) {
        static_assert(have_matrices<extents_of<X>>, "svd: matrices are expected, of rank 2 or more");
        static_assert(op_takes<svd_op, value_type_of<X>>, "svd: the elements must be float, double or complex");
    }
    return apply_node(op, singular_value_rule, where, x);
}

template <bool Full, class X> auto svd(const X& x, const std::source_location& where) {
    const auto s = singular_values(svd_op{true, Full}, x, where);
    return std::tuple(
        real_parts_of(s, where),
        output_of<X>([](const dims& shape) { return rules::orthogonal_factor(shape, true, Full); }, s, 1),
        output_of<X>([](const dims& shape) { return rules::orthogonal_factor(shape, false, Full); }, s, 2));
}

/// Returns max(m, n) of matrices x with extents known only at run time, in the element type of s.
template <class S, class X> auto longer_extent(const S& s, const X& x, const std::source_location& where) {
    const auto extents = rill::shape<std::int64_t>(x, where);
    const auto longer = maximum(extents(-2), extents(-1));
    if constexpr (typed_operand<S>)
        return cast<value_type_of<S>>(longer);
    else
        return cast(sealed(longer), operand_type(s).type, where);
}

/// Returns the cutoff up to which singular values s of x count as 0: `relative` times the largest of each matrix. If `relative` is
/// negative, `epsilons` times max(m, n) times the epsilon of the element type replaces it.
template <class S, class X>
auto cutoff(const S& s, const X& x, double relative, double epsilons, const std::source_location& where) {
    const tensor_type& type = operand_type(x);
    const auto largest = sealed(reduce_max<-1>(s, keep_dims, where));
    if (relative >= 0) return sealed(largest * relative);
    const double rounding =
        epsilons * (operand_type(s).type == dtype::float32 ? static_cast<double>(std::numeric_limits<float>::epsilon())
                                                           : std::numeric_limits<double>::epsilon());
    const index_t m = rules::extent_along(type.shape, -2), n = rules::extent_along(type.shape, -1);
    if constexpr (!knows_last_extents<X>)
        if (m == dyn || n == dyn) return sealed(largest * (rounding * longer_extent(s, x, where)));
    return sealed(largest * (rounding * static_cast<double>(std::max<index_t>({m, n, 1}))));
}

/// Returns v diag(s) u^H for a row of real numbers s.
template <class V, class S, class U>
auto outer_products(const V& v, const S& s, const U& u, const std::source_location& where) {
    if constexpr (!typed_operand<V>)
        return any_tensor(matmul(v * with_dtype(any_tensor(s), v.dtype()), adjoint(u, where), where));
    else if constexpr (is_complex<value_type_of<V>>)
        return matmul(v * cast<value_type_of<V>>(s), adjoint(u, where), where);
    else
        return matmul(v * s, adjoint(u, where), where);
}

} // namespace detail

/// Returns the singular value decomposition: auto [s, u, v] = svd(x). x is matmul(u * s, adjoint(v)); s is real.
template <graph_operand X> auto svd(const X& x, const std::source_location& where = std::source_location::current()) {
    return detail::svd<false>(x, where);
}
/// Returns the singular value decomposition with square u and v.
template <graph_operand X>
auto svd(const X& x, full_matrices_t, const std::source_location& where = std::source_location::current()) {
    return detail::svd<true>(x, where);
}
/// Returns the singular values alone, which takes less time.
template <graph_operand X>
auto singular_values(const X& x, const std::source_location& where = std::source_location::current()) {
    return detail::real_parts_of(detail::singular_values(svd_op{false, false}, x, where), where);
}

/// Returns the Moore-Penrose pseudoinverses [.., n, m] of matrices [.., m, n]: pinv(x, rcond). Singular values up to rcond times the
/// largest count as 0. Without rcond it is 10 max(m, n) epsilons, as in TensorFlow.
template <graph_operand X>
auto pinv(const X& x, double rcond = -1, const std::source_location& where = std::source_location::current()) {
    const auto matrix = sealed(x);
    const auto [s, u, v] = svd(matrix, where);
    const auto counts = greater(s, detail::cutoff(s, matrix, rcond, 10, where));
    // 1 for values that count as 0: a quotient by 0 would make gradients NaN
    const auto inverse = sealed(select(counts, 1 / select(counts, s, s * 0 + 1), s * 0));
    return detail::outer_products(v, expand_dims<-2>(inverse, where), u, where);
}

/// Returns the number of singular values of each matrix that are larger than the tolerance: matrix_rank(x, tolerance). The default
/// tolerance is max(m, n) epsilons of the largest value, as in TensorFlow.
template <graph_operand X>
auto matrix_rank(const X& x, double tolerance = -1,
                 const std::source_location& where = std::source_location::current()) {
    const auto matrix = sealed(x);
    const auto s = singular_values(matrix, where);
    // a cutoff for each matrix, so that both forms have one type
    const auto least = sealed(detail::cutoff(s, matrix, tolerance < 0 ? -1 : 0, 1, where) + std::max(tolerance, 0.));
    return reduce_sum<-1>(cast<int>(greater(s, least)), where);
}

}} // namespace rill::RILL_ABI

#if RILL_DEFINE
namespace rill { inline namespace RILL_ABI {

RILL_INLINE std::vector<tensor_type> svd_op::outputs(std::span<const tensor_type> in) const {
    const auto s = rules::singular_values(in[0].shape);
    std::vector<tensor_type> all{{in[0].type, detail::checked_shape(s)}};
    if (compute_uv)
        for (const bool of_rows : {true, false})
            all.push_back({in[0].type, rules::orthogonal_factor(in[0].shape, of_rows, full_matrices).shape});
    return all;
}

RILL_INLINE std::vector<endpoint> svd_op::gradient(const gradient_request& r) const {
    using namespace detail;
    const matrix_gradient<svd_op> m(r);
    const endpoint ds = r.gradient(0), du = compute_uv ? r.gradient(1) : endpoint{},
                   dv = compute_uv ? r.gradient(2) : endpoint{};
    if (!ds && !du && !dv) return {{}};
    const dims& x = type_of(r.input(0)).shape;
    const index_t rows = rules::extent_along(x, -2), columns = rules::extent_along(x, -1);
    if (full_matrices && (du || dv) && (rows == dyn || rows != columns))
        throw unimplemented("svd: with full_matrices, the vectors of " + to_string(type_of(r.input(0))) +
                            " have no gradient: the matrices must be square");
    endpoint s = r.output(0), u, v;
    if (compute_uv)
        u = r.output(1), v = r.output(2);
    else
        s = m.add(svd_op{true, false}, {r.input(0)}), u = {s.from, 1}, v = {s.from, 2};
    if (full_matrices && rows != columns) // the vectors have no gradient then
        s = m.add(svd_op{true, false}, {r.input(0)}), u = {s.from, 1}, v = {s.from, 2};
    const auto sum = [](const endpoint& a, const endpoint& b) {
        return !a ? b : !b ? a : apply_to_edges<add_op>(a, b);
    };
    endpoint middle = ds ? m.diagonal_matrix(without_imaginary(ds)) : endpoint{}, beside;
    if (du || dv) {
        const endpoint f = m.reciprocal_differences(apply_to_edges<square_op>(s));
        const auto turned = [&](const endpoint& vectors, const endpoint& d) {
            return m.plus_adjoint(apply_to_edges<mul_op>(f, m.adjoint_product(vectors, d)));
        };
        if (du) middle = sum(middle, apply_to_edges<mul_op>(turned(u, du), m.row(s)));
        if (dv) middle = sum(middle, apply_to_edges<mul_op>(m.column(s), turned(v, dv)));
        // the parts of the vectors' gradients outside the space that the vectors span
        const auto outside = [&](const endpoint& vectors, const endpoint& d) {
            return apply_to_edges<sub_op>(d, m.product(vectors, m.adjoint_product(vectors, d)));
        };
        const endpoint inverse = m.row(apply_to_edges<reciprocal_op>(s));
        if (du && (rows == dyn || columns == dyn || rows > columns))
            beside = m.product_adjoint(apply_to_edges<mul_op>(outside(u, du), inverse), v);
        if (dv && (rows == dyn || columns == dyn || columns > rows))
            beside = sum(beside, m.product_adjoint(apply_to_edges<mul_op>(u, inverse), outside(v, dv)));
    }
    if ((du || dv) && is_complex_type(type_of(u).type)) { // complex: a vector and its partner turn by the same phase
        const bool by_u = du && (!dv || rows > columns);
        const endpoint along = m.diagonal(by_u ? m.adjoint_product(u, du) : m.adjoint_product(v, dv)),
                       turned = conjugate_of(along);
        const endpoint phases =
            half_of(by_u ? apply_to_edges<sub_op>(along, turned) : apply_to_edges<sub_op>(turned, along));
        middle = sum(middle, m.diagonal_matrix(apply_to_edges<mul_op>(phases, apply_to_edges<reciprocal_op>(s))));
    }
    return {sum(m.product(u, m.product_adjoint(middle, v)), beside)};
}

}} // namespace rill::RILL_ABI
#endif
