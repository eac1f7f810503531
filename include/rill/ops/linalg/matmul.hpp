// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>

#include <rill/expr/node_op.hpp>
#include <rill/ops/array/transpose.hpp>
#include <rill/ops/math/conj.hpp>

namespace rill::inline RILL_ABI {

/// Matrix product [m, k] x [k, n] -> [m, n]; either side may be read transposed. Gradients: g b^T and a^T g, of complex
/// numbers with the conjugates of a and b.
struct matmul_op {
    static constexpr auto name = "MatMul", label = "matmul";
    bool transpose_a = false, transpose_b = false;

    template <class V> void attributes(V& v) const {
        v("transpose_a", transpose_a);
        v("transpose_b", transpose_b);
    }
    constexpr shape_result shape(const dims& a, const dims& b) const {
        return rules::matmul(a, b, transpose_a, transpose_b);
    }

    std::vector<endpoint> gradient(const gradient_request& r) const;

    /// A transposed matrix is read as it lies.
    std::optional<matmul_op> absorb(int input, const op& producer) const;

    template <class D, class T> kernel bind(kernel_request& request) const {
        const dims &a = request.inputs[0].shape, &c = request.outputs[0].shape;
        const index_t m = c[0], n = c[1], k = a[transpose_a ? 0 : 1];
        const bool ta = transpose_a, tb = transpose_b;
        thread_pool* const pool = request.pool;
        request.scratch_bytes = D::template gemm_scratch<T>(ta, tb, m, n, k, pool);
        request.microseconds = D::gemm_microseconds(m, n, k);
        request.shared = D::template gemm_is_shared<T>(ta, tb, m, n, k, pool);
        return kernel([=](const kernel_args& s) {
            D::gemm(ta, tb, m, n, k, s.in<T>(0), s.in<T>(1), s.out<T>(0), s.out<void>(1), pool);
        });
    }
    friend bool operator==(const matmul_op&, const matmul_op&) = default;
};

/// The inner extents agree: of [m, k] and [k, n].
template <class A, class B> inline constexpr bool inner_extents_agree = rules::matmul(A::value, B::value).ok();
template <class A, class B> inline constexpr bool are_matrices = A::rank == 2 && B::rank == 2;

namespace detail {

template <class A, class B> struct matmul_rule {
    static constexpr dims value = are_matrices<A, B> ? rules::matmul(A::value, B::value).shape : dims{dyn, dyn};
};

} // namespace detail

/// Matrix product; expressions are sealed first. `matmul(transpose(a), b)` makes no transposed copy.
template <graph_operand A, graph_operand B>
auto matmul(const A& a, const B& b, const std::source_location& where = std::source_location::current()) {
    constexpr bool typed = typed_operand<A> && typed_operand<B>;
    if constexpr (typed) {
        static_assert(are_matrices<extents_of<A>, extents_of<B>>, "matmul: both operands must be matrices (rank 2)");
        if constexpr (are_matrices<extents_of<A>, extents_of<B>>)
            static_assert(inner_extents_agree<extents_of<A>, extents_of<B>>, "matmul: the inner extents differ");
        static_assert(dtypes_agree<dtype_tag<A>, dtype_tag<B>>, "matmul: the dtypes differ; convert with cast<T>()");
        static_assert(is_numeric<value_type_of<A>>, "matmul: the element type must be a number");
    }
    using one = std::conditional_t<typed_operand<A>, A, B>;
    detail::require_kernel_for<matmul_op, one>();
    if constexpr (typed)
        if constexpr (is_complex<value_type_of<one>>) require_primitive<conj_op, value_type_of<one>>();
    const graph_state* home = detail::home_of(a);
    if (!home) home = detail::home_of(b);
    const graph g = detail::graph_or_current(home);
    const endpoint made{
        detail::add_node(g, make_op(matmul_op{}), {detail::seal(a, g), detail::seal(b, g)}, {}, false, where), 0};
    if constexpr (typed)
        return detail::typed_result<true, value_type_of<A>, detail::matmul_rule<extents_of<A>, extents_of<B>>>(made);
    else
        return any_tensor(made);
}

} // namespace rill::inline RILL_ABI

#if !RILL_COMPILED
#include <rill/ops/linalg/matmul.ipp>
#endif
