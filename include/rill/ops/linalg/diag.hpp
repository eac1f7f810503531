// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/linalg/matrix_diag.hpp>
#include <rill/ops/math/reduce_sum.hpp>

namespace rill { inline namespace RILL_ABI {

struct diag_part_op;

namespace rules {

/// Returns the shape with all axes twice.
constexpr shape_result diag(const dims& x) {
    if (!x.known_rank()) return {dims::unknown()};
    if (x.rank == 0 || 2 * x.rank > max_rank) return {x, "a tensor of rank 1 to 4 is expected"};
    dims r = x;
    for (int i = 0; i < x.rank; ++i) r.push(x[i]);
    return {r};
}
/// Returns the first half of the axes. The second half must equal it.
constexpr shape_result diag_part(const dims& x) {
    if (!x.known_rank()) return {dims::unknown()};
    if (x.rank == 0 || x.rank % 2 != 0) return {x, "an even number of axes is expected"};
    dims r;
    for (int i = 0; i < x.rank / 2; ++i) {
        const index_t a = x[i], b = x[i + x.rank / 2];
        if (!extents_compatible(a, b)) return {x, "the second half of the axes differs from the first"};
        r.push(a == dyn ? b : a);
    }
    return {r};
}

} // namespace rules

/// A tensor of zeros with x as its diagonal: [a, b] becomes [a, b, a, b]. Gradient: DiagPart of g.
struct diag_op {
    static constexpr auto name = "Diag";
    using domain_type = domains::numeric;
    using compiled_types = types::numbers;
    using brings = op_list<diag_part_op>;

    constexpr shape_result shape(const dims& x) const { return rules::diag(x); }
    std::vector<endpoint> gradient(const gradient_request& r) const;
    template <class D, class T> kernel bind(kernel_request& request) const {
        const index_t n = request.inputs[0].shape.size();
        const detail::diagonal_layout d{1, n, n};
        return kernel([=, l = d.layout(false, true)](const kernel_args& a) {
            D::fill(a.on, d.size(), a.out<T>(0), T(0));
            if (!d.empty()) D::copy(a.on, a.in<T>(0), a.out<T>(0), l);
        });
    }
};

/// The diagonal of a tensor with repeated axes: [a, b, a, b] becomes [a, b]. Gradient: Diag of g.
struct diag_part_op {
    static constexpr auto name = "DiagPart";
    using domain_type = domains::numeric;
    using compiled_types = types::numbers;
    using brings = op_list<diag_op>;

    constexpr shape_result shape(const dims& x) const { return rules::diag_part(x); }
    std::vector<endpoint> gradient(const gradient_request& r) const;
    template <class D, class T> kernel bind(kernel_request& request) const {
        const index_t n = request.outputs[0].shape.size();
        const detail::diagonal_layout d{1, n, n};
        return kernel([=, l = d.layout(true, false)](const kernel_args& a) {
            if (!d.empty()) D::copy(a.on, a.in<T>(0), a.out<T>(0), l);
        });
    }
};

template <class E> inline constexpr bool has_diag = rules::diag(static_dims<E>).ok();
template <class E> inline constexpr bool has_diag_part = rules::diag_part(static_dims<E>).ok();

/// Returns the diagonal matrix of a vector, and the like for higher ranks: diag(x).
template <graph_operand X> auto diag(const X& x, const std::source_location& where = std::source_location::current()) {
    if constexpr (typed_operand<X>) static_assert(has_diag<extents_of<X>>, "diag: a tensor of rank 1 to 4 is expected");
    return apply_node(diag_op{}, [](const dims& shape) { return rules::diag(shape); }, where, x);
}

/// Returns the diagonal of a square matrix, and the like for higher ranks: diag_part(x).
template <graph_operand X>
auto diag_part(const X& x, const std::source_location& where = std::source_location::current()) {
    if constexpr (typed_operand<X>)
        static_assert(has_diag_part<extents_of<X>>, "diag_part: the axes must be there twice, [a, b, a, b]");
    return apply_node(diag_part_op{}, [](const dims& shape) { return rules::diag_part(shape); }, where, x);
}

/// Returns the sums of the diagonals of matrices [.., m, n]: trace(x).
template <graph_operand X> auto trace(const X& x, const std::source_location& where = std::source_location::current()) {
    return reduce_sum<-1>(matrix_diag_part(x, where), where);
}

}} // namespace rill::RILL_ABI

#if RILL_DEFINE
namespace rill { inline namespace RILL_ABI {

RILL_INLINE std::vector<endpoint> diag_op::gradient(const gradient_request& r) const {
    return {r.add<diag_op>(diag_part_op{}, {r.gradient()})};
}

RILL_INLINE std::vector<endpoint> diag_part_op::gradient(const gradient_request& r) const {
    return {r.add<diag_part_op>(diag_op{}, {r.gradient()})};
}

}} // namespace rill::RILL_ABI
#endif
