// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/linalg/matrix_op.hpp>

namespace rill { inline namespace RILL_ABI {

/// Matrices [.., m, n] with zeros outside a band of `lower` diagonals below the main one and `upper` above it. -1 keeps all of them.
/// Gradient: the band of g.
struct matrix_band_part_op {
    static constexpr auto name = "MatrixBandPart";
    using domain_type = domains::numeric;
    using compiled_types = types::numbers;
    index_t lower = -1, upper = -1;

    static void fields(auto& op, auto& visit) {
        visit("num_lower", op.lower);
        visit("num_upper", op.upper);
    }
    constexpr shape_result shape(const dims& x) const {
        if (lower < -1 || upper < -1) return {x, "a number of diagonals is less than -1"};
        return rules::matrices(x);
    }
    std::vector<endpoint> gradient(const gradient_request& r) const;
    template <class D, class T> kernel bind(kernel_request& request) const {
        const matrix_task t = detail::task_of(request.inputs[0].shape);
        const auto within = [](index_t diagonals, index_t extent) {
            return diagonals < 0 ? extent : std::min(diagonals, extent);
        };
        const index_t below = within(lower, t.rows), above = within(upper, t.columns);
        return kernel([=](const kernel_args& a) {
            D::fill(a.on, t.count * t.rows * t.columns, a.out<T>(0), T(0));
            for (index_t i = 0; i < t.rows && t.count > 0; ++i) { // row i of all matrices at once
                const index_t from = std::max<index_t>(0, i - below), end = std::min(t.columns, i + above + 1);
                if (from >= end) continue;
                detail::strided_layout l;
                l.push(t.count, t.rows * t.columns, t.rows * t.columns);
                l.push(end - from, 1, 1);
                l.collapse();
                const index_t at = i * t.columns + from;
                D::copy(a.on, a.in<T>(0) + at, a.out<T>(0) + at, l);
            }
        });
    }
};

/// Returns the band of each matrix: matrix_band_part(x, -1, 0) is the lower triangle, (0, -1) the upper one, (0, 0) the diagonal.
template <graph_operand X>
auto matrix_band_part(const X& x, index_t lower, index_t upper,
                      const std::source_location& where = std::source_location::current()) {
    if constexpr (typed_operand<X>)
        static_assert(have_matrices<extents_of<X>>, "matrix_band_part: matrices are expected, of rank 2 or more");
    return apply_node(matrix_band_part_op{lower, upper}, detail::shape_of_first, where, x);
}

}} // namespace rill::RILL_ABI

#if RILL_DEFINE
namespace rill { inline namespace RILL_ABI {

RILL_INLINE std::vector<endpoint> matrix_band_part_op::gradient(const gradient_request& r) const {
    return {r.add<matrix_band_part_op>(*this, {r.gradient()})};
}

}} // namespace rill::RILL_ABI
#endif
