// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <span>

#include <rill/expr/node_op.hpp>
#include <rill/ops/array/transpose.hpp>
#include <rill/ops/linalg/batch_matmul.hpp>
#include <rill/ops/linalg/matmul_row.hpp>
#include <rill/ops/linalg/row_epilogue.hpp>
#include <rill/ops/math/conj.hpp>

namespace rill { inline namespace RILL_ABI {

/// Matrix product [m, k] x [k, n] -> [m, n]. Either side may be read transposed. Gradients: g b^T and a^T g. Complex
/// numbers use the conjugates of a and b.
struct matmul_op {
    static constexpr auto name = "MatMul", label = "matmul";
    using domain_type = domains::numeric;
    using compiled_types = types::numbers;
    using brings = op_list<conj_op, matmul_row_op>;
    bool transpose_a = false, transpose_b = false;

    static void fields(auto& op, auto& visit) {
        visit("transpose_a", op.transpose_a);
        visit("transpose_b", op.transpose_b);
    }
    constexpr shape_result shape(const dims& a, const dims& b) const {
        return rules::matmul(a, b, transpose_a, transpose_b);
    }

    std::vector<endpoint> gradient(const gradient_request& r) const;
    op_cost cost(std::span<const tensor_type> in, std::span<const tensor_type> out) const {
        return detail::product_cost(in, out, transpose_a);
    }

    /// Folds a transpose of an operand into the product, which reads the matrix in its own layout.
    std::optional<matmul_op> fold_operands(int input, const op& producer) const;
    /// Fuses x w + b, and an optional relu, into the product.
    std::optional<matmul_row_op> fuse_epilogue(const fused_spec& next, std::span<const tensor_type> in) const;

    template <class D, class T> kernel bind(kernel_request& request) const {
        return detail::product_kernel<D, T>(transpose_a, transpose_b, request,
                                            [](const kernel_args&) { return product_epilogue<T>(); });
    }
};

/// True if the inner extents of [.., m, k] and [.., k, n] agree.
template <class A, class B>
inline constexpr bool inner_extents_agree =
    rules::extents_compatible(rules::extent_along(static_dims<A>, -1), rules::extent_along(static_dims<B>, -2));
template <class A, class B> inline constexpr bool are_matrices = A::rank >= 2 && B::rank >= 2;
/// True if the axes before the matrices broadcast.
template <class A, class B> inline constexpr bool batches_broadcast = rules::batch_matmul(static_dims<A>, static_dims<B>).ok();

/// Returns the matrix product, or products of batches of matrices, whose leading extents broadcast. Expressions are
/// sealed first. For matrices, `matmul(transpose(a), b)` makes no transposed copy.
template <graph_operand A, graph_operand B>
auto matmul(const A& a, const B& b, const std::source_location& where = std::source_location::current()) {
    if constexpr (typed_operand<A> && typed_operand<B>) {
        using E = extents_of<A>;
        using F = extents_of<B>;
        static_assert(are_matrices<E, F>, "matmul: both operands must be matrices (rank 2), or batches of them");
        if constexpr (are_matrices<E, F>) {
            static_assert(inner_extents_agree<E, F>, "matmul: the inner extents differ");
            if constexpr (inner_extents_agree<E, F>)
                static_assert(batches_broadcast<E, F>, "matmul: the batches do not broadcast");
        }
        static_assert(dtypes_agree<dtype_tag<A>, dtype_tag<B>>, "matmul: the dtypes differ; convert with cast<T>()");
        static_assert(is_numeric<value_type_of<A>>, "matmul: the element type must be a number");
        constexpr auto rule = [](const dims& x, const dims& y) { return rules::batch_matmul(x, y); };
        if constexpr (E::rank > 2 || F::rank > 2)
            return apply_node(batch_matmul_op{}, rule, where, a, b);
        else
            return apply_node(matmul_op{}, rule, where, a, b);
    } else {
        if (detail::is_null(a) || detail::is_null(b)) detail::refuse_null("matmul", where);
        const bool batches = detail::rank_of(a) > 2 || detail::rank_of(b) > 2;
        return batches ? apply_node(batch_matmul_op{}, where, a, b) : apply_node(matmul_op{}, where, a, b);
    }
}

}} // namespace rill::RILL_ABI

#if RILL_DEFINE
namespace rill { inline namespace RILL_ABI {

RILL_INLINE std::vector<endpoint> matmul_op::gradient(const gradient_request& r) const {
    return detail::product_gradients<matmul_op>(r, transpose_a, transpose_b);
}

RILL_INLINE std::optional<matmul_op> matmul_op::fold_operands(int input, const op& producer) const {
    if (producer.struct_name() != detail::type_name<transpose_op>()) return std::nullopt;
    const auto& order = static_cast<const transpose_op*>(producer.attributes())->order;
    const bool swapped = order.count == 0 || order[0] == 1 || order[0] == -1;
    return matmul_op{transpose_a != (swapped && input == 0), transpose_b != (swapped && input == 1)};
}

RILL_INLINE std::optional<matmul_row_op> matmul_op::fuse_epilogue(const fused_spec& next,
                                                                  std::span<const tensor_type> in) const {
    const auto epilogue = detail::row_epilogue_of(next, in);
    if (!epilogue) return std::nullopt;
    // all extents must be known: a later error would belong to the product, but the fused node is the sum's
    const auto &a = in[0], &b = in[1], &row = in[2];
    if (a.shape.rank != 2 || b.shape.rank != 2 || row.shape.rank != 1) return std::nullopt;
    const auto product = shape(a.shape, b.shape);
    const bool known = product.ok() && a.shape[transpose_a ? 0 : 1] != dyn &&
                       a.shape[transpose_a ? 0 : 1] == b.shape[transpose_b ? 1 : 0] && row.shape[0] != dyn &&
                       row.shape[0] == product.shape[1];
    if (!known) return std::nullopt;
    return matmul_row_op{transpose_a, transpose_b, epilogue->rectified};
}

}} // namespace rill::RILL_ABI
#endif
