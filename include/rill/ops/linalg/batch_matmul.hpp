// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/core/vector.hpp>
#include <rill/ops/array/broadcast_to.hpp>
#include <rill/ops/array/reshape.hpp>
#include <rill/ops/linalg/matmul_row.hpp>
#include <rill/ops/math/conj.hpp>

namespace rill { inline namespace RILL_ABI {

namespace rules {

/// Returns the shape of [.., m, k] x [.., k, n] -> [.., m, n]. The axes before the matrices broadcast.
constexpr shape_result batch_matmul(const dims& a, const dims& b, bool transpose_a = false, bool transpose_b = false) {
    if (!a.known_rank() || !b.known_rank()) return {dims::unknown()};
    if (a.rank < 2 || b.rank < 2) return {dims{dyn, dyn}, "both operands must be matrices, or batches of them"};
    const auto part = [](const dims& x, int from, int to) {
        dims r;
        for (int i = from; i < to; ++i) r.push(x[i]);
        return r;
    };
    const auto product = matmul(part(a, a.rank - 2, a.rank), part(b, b.rank - 2, b.rank), transpose_a, transpose_b);
    if (!product.ok()) return product;
    const auto batch = broadcast(part(a, 0, a.rank - 2), part(b, 0, b.rank - 2));
    if (!batch.ok()) return {product.shape, "the batches do not broadcast"};
    dims r = batch.shape;
    r.push(product.shape[0]);
    r.push(product.shape[1]);
    return {r};
}

} // namespace rules

namespace detail {

/// The offsets of the matrices of one product of a batch, in elements.
struct batch_places {
    index_t a, b;
};
/// Returns the offsets of every `together`-th product.
vector<batch_places> places_of_batch(const dims& a, const dims& b, const dims& product, index_t together);

/// Returns the number of consecutive products with the same right matrix and contiguous left matrices. They run as one product of all their
/// rows.
index_t products_together(const dims& a, const dims& b, const dims& product);

/// Returns true if a reshape can turn a batch [.., m, n] into one matrix. It needs a known n other than 0, because dyn can't be inferred
/// beside 0.
bool has_known_columns(const tensor_type& batch);

/// Returns the gradients of C = A B, where A = op(a) and B = op(b): dA = g B^T and dB = A^T g. Each is written so that a and b keep their
/// own layout. Op is the product's op. dB is computed from rows(g) and rows(a).
template <class Op, class Rows>
std::vector<endpoint> product_gradients(const gradient_request& r, bool transpose_a, bool transpose_b,
                                        const Rows& rows) {
    const auto product = [&](const endpoint& x, bool tx, const endpoint& y, bool ty) {
        return r.add<Op>(Op{tx, ty}, {x, y});
    };
    const endpoint g = r.gradient();
    std::vector<endpoint> d(2);
    if (r.wanted[0]) {
        const endpoint b = conjugate_of(r.input(1));
        d[0] = transpose_a ? product(b, transpose_b, g, true) : product(g, false, b, !transpose_b);
    }
    if (r.wanted[1]) {
        const endpoint above = rows(g), a = rows(conjugate_of(r.input(0)));
        d[1] = transpose_b ? product(above, true, a, transpose_a) : product(a, !transpose_a, above, false);
    }
    return d;
}
template <class Op>
std::vector<endpoint> product_gradients(const gradient_request& r, bool transpose_a, bool transpose_b) {
    return product_gradients<Op>(r, transpose_a, transpose_b, [](const endpoint& e) { return e; });
}

} // namespace detail

/// Products of batches of matrices. The extents before the last two broadcast. A batch times one matrix runs as one product of all its
/// rows. Gradients: g b^T and a^T g, summed where a batch broadcasts. Complex numbers use the conjugates of a and b.
struct batch_matmul_op {
    static constexpr auto name = "BatchMatMulV2", label = "matmul";
    using domain_type = domains::numeric;
    using compiled_types = types::numbers;
    using brings = op_list<conj_op, reshape_op, combining<combine::sum>>;
    bool transpose_a = false, transpose_b = false;

    static void fields(auto& op, auto& visit) {
        visit("adj_x", op.transpose_a);
        visit("adj_y", op.transpose_b);
    }
    constexpr shape_result shape(const dims& a, const dims& b) const {
        return rules::batch_matmul(a, b, transpose_a, transpose_b);
    }
    std::vector<endpoint> gradient(const gradient_request& r) const;
    op_cost cost(std::span<const tensor_type> in, std::span<const tensor_type> out) const {
        return detail::product_cost(in, out, transpose_a);
    }

    template <class D, class T> kernel bind(kernel_request& request) const {
        const dims &a = request.inputs[0].shape, &b = request.inputs[1].shape, &c = request.outputs[0].shape;
        const index_t together = transpose_a ? 1 : detail::products_together(a, b, c);
        const index_t m = together * c[c.rank - 2], n = c[c.rank - 1], k = a[a.rank - (transpose_a ? 2 : 1)];
        const bool ta = transpose_a, tb = transpose_b;
        auto places = detail::places_of_batch(a, b, c, together);
        request.scratch_bytes = D::template gemm_scratch<T>(request.on, ta, tb, m, n, k);
        request.shared = D::template gemm_is_shared<T>(request.on, ta, tb, m, n, k);
        return kernel([=, places = std::move(places)](const kernel_args& s) {
            T* to = s.out<T>(0);
            for (const auto& at : places) {
                D::gemm(s.on, ta, tb, m, n, k, s.in<T>(0) + at.a, s.in<T>(1) + at.b, to);
                to += m * n;
            }
        });
    }
};

}} // namespace rill::RILL_ABI

#if RILL_DEFINE
namespace rill { inline namespace RILL_ABI {

namespace detail {

RILL_INLINE vector<batch_places> places_of_batch(const dims& a, const dims& b, const dims& product, index_t together) {
    vector<batch_places> all;
    if (product.size() == 0) return all; // nothing to write
    const auto as = dense_strides(a), bs = dense_strides(b);
    index_t count = 1;
    for (int i = 0; i < product.rank - 2; ++i) count *= product[i];
    for (index_t flat = 0; flat < count; flat += together) {
        batch_places at{0, 0};
        index_t rest = flat;
        for (int i = product.rank - 3; i >= 0; rest /= product[i], --i) {
            const index_t place = rest % product[i];
            const int ia = i - (product.rank - a.rank), ib = i - (product.rank - b.rank);
            if (ia >= 0 && a[ia] != 1) at.a += place * as[ia];
            if (ib >= 0 && b[ib] != 1) at.b += place * bs[ib];
        }
        all.push_back(at);
    }
    return all;
}

RILL_INLINE index_t products_together(const dims& a, const dims& b, const dims& product) {
    index_t together = 1;
    for (int back = 3; back <= product.rank; ++back) { // from the innermost axis on
        const index_t extent = rules::extent_along(product, -back);
        const bool is_shared_in_b = back > b.rank || rules::extent_along(b, -back) == 1;
        const bool varies_in_a = back <= a.rank && rules::extent_along(a, -back) == extent;
        if (!is_shared_in_b || !varies_in_a) break;
        together *= extent;
    }
    return std::max<index_t>(together, 1);
}

RILL_INLINE bool has_known_columns(const tensor_type& batch) { return rules::extent_along(batch.shape, -1) > 0; }

} // namespace detail

RILL_INLINE std::vector<endpoint> batch_matmul_op::gradient(const gradient_request& r) const {
    const tensor_type &a = type_of(r.input(0)), &b = type_of(r.input(1)), &g = type_of(r.gradient());
    const bool as_rows =
        b.shape.rank == 2 && !transpose_a && detail::has_known_columns(a) && detail::has_known_columns(g);
    auto d = detail::product_gradients<batch_matmul_op>(r, transpose_a, transpose_b, [&](const endpoint& e) {
        return as_rows ? r.add<batch_matmul_op>(reshape_op{{dyn, type_of(e).shape[type_of(e).shape.rank - 1]}}, {e})
                       : e;
    });
    for (int k = 0; k < 2; ++k) { // the gradient of a broadcast batch is summed
        if (!d[k]) continue;
        const dims &of = type_of(d[k]).shape, &to = type_of(r.input(k)).shape;
        bool same = of.known_rank() && to.known_rank() && of.rank == to.rank;
        for (int i = 0; same && i < to.rank - 2; ++i) same = of[i] != dyn && of[i] == to[i];
        if (!same) d[k] = detail::summed_like(d[k], r.input(k));
    }
    return d;
}

}} // namespace rill::RILL_ABI
#endif
