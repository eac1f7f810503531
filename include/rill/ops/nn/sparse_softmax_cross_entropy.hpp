// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>

#include <rill/ops/array/indices.hpp>
#include <rill/ops/math/log.hpp>
#include <rill/ops/nn/softmax.hpp>

namespace rill { inline namespace RILL_ABI {

namespace rules {

/// Returns the shape of the losses for logits [..., classes] and labels [...].
constexpr shape_result sparse_cross_entropy(const dims& logits, const dims& labels) {
    if (!logits.known_rank()) return {labels};
    if (logits.rank == 0) return {dims{}, "a scalar has no last axis"};
    const dims rows = reduce(logits, axis_list{-1}, false).shape;
    if (labels.known_rank() && labels.rank != rows.rank)
        return {rows, "the labels must have one dimension less than the logits"};
    if (!compatible(rows, labels)) return {rows, "the shapes of logits and labels differ"};
    return {merge(rows, labels)};
}

} // namespace rules

namespace detail {

/// Computes the loss of a row of logits and its label, and its gradient by the logits.
template <class T> struct sparse_cross_entropy_row {
    template <class Layout, class In, class Out, class Numbers>
    RILL_FN void operator()(const Layout& l, const In& in, const Out& out, const Numbers& each) const {
        using V = typename Layout::V;
        using C = typename V::value_type;
        const auto [largest, sum] = exponentials(l, in[0], out[0]);
        const V scale = V(1) / sum;
        l.each([&](auto p) { l.store(l.load(out[0], p) * scale, out[0], p); });
        C top[Layout::lanes], log_sum[Layout::lanes];
        l.store_numbers(largest, top);
        l.store_numbers(log(sum), log_sum);
        for (int r = 0; r < l.rows; ++r) {
            const index_t at = l.place(r, static_cast<index_t>(each.read[r]));
            each.written[r] = static_cast<T>(log_sum[r] - (in[0][at] - top[r]));
            out[0][at] -= C(1);
        }
    }
};

} // namespace detail

/// Computes log(sum(e^logits)) - logits[label] over the last axis. The same pass computes the gradient for the logits,
/// the second output: softmax(logits), minus 1 at the label. A label out of range is an invalid_argument.
struct sparse_softmax_cross_entropy_op {
    static constexpr auto name = "SparseSoftmaxCrossEntropyWithLogits", label = "sparse_softmax_cross_entropy";
    static constexpr int inputs = 2;
    using domain_type = domains::real_floating;
    using compiled_types = types::floats;
    using brings = joined_ops<detail::row_ops, op_list<softmax_op>>;

    std::vector<tensor_type> outputs(std::span<const tensor_type> in) const;
    std::vector<endpoint> gradient(const gradient_request& r) const;

    template <class D, class T> kernel bind(kernel_request& request) const {
        const detail::row_view v(request.inputs[0].shape);
        request.scratch_bytes = D::template row_scratch<T>(v.columns, 2);
        return detail::with_index_type(request.inputs[1].type, [&]<class I>(std::type_identity<I>) {
            const detail::index_check<I> labels(request.inputs[1].shape, v.columns, "label");
            return kernel([=](const kernel_args& a) {
                detail::check_indices<D>(a.on, labels, a.in<I>(1));
                D::rows(a.on, v.rows, v.columns, std::array{a.in<T>(0)}, std::array{a.out<T>(1)},
                        row_numbers<T, I>{a.in<I>(1), a.out<T>(0)}, detail::sparse_cross_entropy_row<T>{});
            });
        });
    }
};

/// True if logits [..., classes] and labels [...] agree.
template <class A, class B> inline constexpr bool is_one_rank_less = B::rank == A::rank - 1;
template <class A, class B>
inline constexpr bool rows_agree = !is_one_rank_less<A, B> || rules::sparse_cross_entropy(static_dims<A>, static_dims<B>).ok();

/// Computes the loss of a classifier. Logits are [..., classes], labels [...] are class numbers (int or std::int64_t), the
/// result is [...]. Labels may be host values: sparse_softmax_cross_entropy(logits, {3, 0}).
template <graph_operand A, ids_argument B = std::vector<int>>
auto sparse_softmax_cross_entropy(const A& logits, const B& labels,
                                  const std::source_location& where = std::source_location::current()) {
    if constexpr (typed_operand<A>) {
        static_assert(has_last_axis<extents_of<A>>, "sparse_softmax_cross_entropy: a scalar has no last axis");
        static_assert(is_real_floating<value_type_of<A>>, "sparse_softmax_cross_entropy: the logits are not floating");
    }
    static_assert(are_ids<B>, "sparse_softmax_cross_entropy: the labels must be int or std::int64_t");
    const auto& at = detail::ids_operand(labels, where);
    using L = std::remove_cvref_t<decltype(at)>;
    if constexpr (typed_operand<A> && typed_operand<L>) {
        static_assert(is_one_rank_less<extents_of<A>, extents_of<L>>,
                      "sparse_softmax_cross_entropy: the labels must have one dimension less than the logits");
        static_assert(rows_agree<extents_of<A>, extents_of<L>>,
                      "sparse_softmax_cross_entropy: the shapes of logits and labels differ");
    }
    constexpr auto rule = [](const dims& x, const dims& y) { return rules::sparse_cross_entropy(x, y); };
    return apply_node(sparse_softmax_cross_entropy_op{}, rule, where, logits, at);
}

}} // namespace rill::RILL_ABI

#if RILL_DEFINE
namespace rill { inline namespace RILL_ABI {

RILL_INLINE std::vector<tensor_type> sparse_softmax_cross_entropy_op::outputs(std::span<const tensor_type> in) const {
    detail::check_index_type(in[1].type, "the labels");
    const auto loss = rules::sparse_cross_entropy(in[0].shape, in[1].shape);
    if (!loss.ok()) throw invalid_argument(loss.reason());
    return {{in[0].type, loss.shape}, {in[0].type, in[0].shape}};
}

RILL_INLINE std::vector<endpoint> sparse_softmax_cross_entropy_op::gradient(const gradient_request& r) const {
    using namespace detail;
    using self = sparse_softmax_cross_entropy_op;
    const endpoint g = r.gradient(0), h = r.gradient(1);
    endpoint d = g ? row_product<self>(each_row(g), {r.output(1)}) : endpoint();
    if (h) { // the second-order gradient is that of softmax: the label's part is constant
        const endpoint p = r.add<self>(softmax_op{}, {r.input(0)});
        d = sum_of(d, softmax_gradient<self>(p, h));
    }
    return {d, {}};
}

}} // namespace rill::RILL_ABI
#endif
