// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>
#include <vector>

#include <rill/device/product_epilogue.hpp>
#include <rill/expr/node_op.hpp>

namespace rill { inline namespace RILL_ABI {

namespace detail {

/// Returns the cost of a product of the first two operands, or of a batch of them. `ta` transposes the first.
inline op_cost product_cost(std::span<const tensor_type> in, std::span<const tensor_type> out, bool ta) {
    const dims& a = in[0].shape;
    const index_t k = a[a.rank - (ta ? 2 : 1)];
    return {2 * static_cast<double>(out[0].shape.size()) * static_cast<double>(k), total_bytes(in) + total_bytes(out)};
}

/// Binds a product of the first two operands. `last` returns the epilogue for the arguments of a run.
template <class D, class T, class Last>
kernel product_kernel(bool ta, bool tb, kernel_request& request, const Last& last) {
    const dims &a = request.inputs[0].shape, &c = request.outputs[0].shape;
    const index_t m = c[0], n = c[1], k = a[ta ? 0 : 1];
    request.scratch_bytes = D::template gemm_scratch<T>(request.on, ta, tb, m, n, k);
    request.shared = D::template gemm_is_shared<T>(request.on, ta, tb, m, n, k);
    return kernel(
        [=](const kernel_args& s) { D::gemm(s.on, ta, tb, m, n, k, s.in<T>(0), s.in<T>(1), s.out<T>(0), last(s)); });
}

} // namespace detail

/// A matrix product with a row added to each of its rows, and an optional relu: [m, k] x [k, n] + [n] -> [m, n]. Plans fuse it from a
/// product and the sum that is the product's only reader.
struct matmul_row_op {
    static constexpr auto name = "MatMulRow", label = "matmul";
    static constexpr int inputs = 3;
    static constexpr auto no_gradient = "plans make it of nodes that have theirs";
    using domain_type = domains::real_floating;
    using compiled_types = types::floats;
    bool transpose_a = false, transpose_b = false, rectified = false;

    static void fields(auto& op, auto& visit) {
        visit("transpose_a", op.transpose_a);
        visit("transpose_b", op.transpose_b);
        visit("rectified", op.rectified);
    }
    std::vector<tensor_type> outputs(std::span<const tensor_type> in) const;
    op_cost cost(std::span<const tensor_type> in, std::span<const tensor_type> out) const {
        return detail::product_cost(in, out, transpose_a);
    }

    template <class D, class T> kernel bind(kernel_request& request) const {
        return detail::product_kernel<D, T>(
            transpose_a, transpose_b, request,
            [to_zero = rectified](const kernel_args& s) { return product_epilogue<T>{s.in<T>(2), to_zero}; });
    }
};

}} // namespace rill::RILL_ABI

#if RILL_DEFINE
namespace rill { inline namespace RILL_ABI {

RILL_INLINE std::vector<tensor_type> matmul_row_op::outputs(std::span<const tensor_type> in) const {
    const auto &a = in[0], &b = in[1], &row = in[2];
    if (a.type != b.type || a.type != row.type)
        throw invalid_argument("the dtypes differ: " + to_string(a) + ", " + to_string(b) + " and " + to_string(row));
    const auto product = rules::matmul(a.shape, b.shape, transpose_a, transpose_b);
    if (!product.ok()) throw invalid_argument(product.reason());
    if (row.shape.rank != 1 || !rules::extents_compatible(row.shape[0], product.shape[1]))
        throw invalid_argument("a row of the product " + to_string(product.shape) + " is expected, not " +
                               to_string(row.shape));
    return {{a.type, product.shape}};
}

}} // namespace rill::RILL_ABI
#endif
