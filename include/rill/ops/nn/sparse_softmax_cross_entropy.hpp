// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/array/indices.hpp>
#include <rill/ops/nn/softmax.hpp>

namespace rill::inline RILL_ABI {

namespace rules {

/// The losses of logits [..., classes] and labels [...].
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

/// log(sum(e^logits)) - logits[label] over the last axis, in one pass that also computes the gradient by the logits (the
/// second output): softmax(logits), less 1 at the label. A label that is no class is an invalid_argument.
struct sparse_softmax_cross_entropy_op {
    static constexpr auto name = "SparseSoftmaxCrossEntropyWithLogits", label = "sparse_softmax_cross_entropy";

    std::vector<tensor_type> outputs(std::span<const tensor_type> in) const;
    std::vector<endpoint> gradient(const gradient_request& r) const;

    template <class D, class T> kernel bind(kernel_request& request) const {
        const detail::row_view v(request.inputs[0].shape);
        request.scratch_bytes = D::template row_scratch<T>(v.columns, 2);
        return detail::with_index_type(request.inputs[1].type, [&]<class I>(std::type_identity<I>) {
            return kernel([=, ids = request.inputs[1].shape](const kernel_args& a) {
                detail::check_indices<D>(a.in<I>(1), ids, v.columns, error_code::invalid_argument, "label");
                D::softmax_cross_entropy(v.rows, v.columns, a.in<T>(0), a.in<I>(1), a.out<T>(0), a.out<T>(1),
                                         a.out<void>(2));
            });
        });
    }
    friend bool operator==(const sparse_softmax_cross_entropy_op&, const sparse_softmax_cross_entropy_op&) = default;
};

/// Logits are [..., classes], labels [...].
template <class A, class B> inline constexpr bool is_one_rank_less = B::rank == A::rank - 1;
template <class A, class B>
inline constexpr bool rows_agree = !is_one_rank_less<A, B> || rules::sparse_cross_entropy(A::value, B::value).ok();

namespace detail {

template <class A, class B> struct sparse_cross_entropy_rule {
    static constexpr dims value = rules::sparse_cross_entropy(A::value, B::value).shape;
};

} // namespace detail

/// The loss of a classifier: logits [..., classes], labels [...] that are classes (int or std::int64_t); the result is [...].
template <graph_operand A, graph_operand B>
auto sparse_softmax_cross_entropy(const A& logits, const B& labels,
                                  const std::source_location& where = std::source_location::current()) {
    constexpr bool typed = typed_operand<A> && typed_operand<B>;
    if constexpr (typed_operand<A>) {
        static_assert(has_last_axis<extents_of<A>>, "sparse_softmax_cross_entropy: a scalar has no last axis");
        static_assert(is_real_floating<value_type_of<A>>, "sparse_softmax_cross_entropy: the logits are not floating");
    }
    if constexpr (typed_operand<B>)
        static_assert(is_index_type<value_type_of<B>>,
                      "sparse_softmax_cross_entropy: the labels must be int or std::int64_t");
    if constexpr (typed) {
        static_assert(is_one_rank_less<extents_of<A>, extents_of<B>>,
                      "sparse_softmax_cross_entropy: the labels must have one dimension less than the logits");
        static_assert(rows_agree<extents_of<A>, extents_of<B>>,
                      "sparse_softmax_cross_entropy: the shapes of logits and labels differ");
    }
    detail::for_floating_types_of<A>([]<class T>(std::type_identity<T>) {
        require_kernel<sparse_softmax_cross_entropy_op, T>();
        detail::require_softmax<T>();
    });
    const endpoint made = detail::make_node(sparse_softmax_cross_entropy_op{}, where, logits, labels);
    if constexpr (typed)
        return detail::typed_result<true, value_type_of<A>,
                                    detail::sparse_cross_entropy_rule<extents_of<A>, extents_of<B>>>(made);
    else
        return any_tensor(made);
}

} // namespace rill::inline RILL_ABI

#if !RILL_COMPILED
#include <rill/ops/nn/sparse_softmax_cross_entropy.ipp>
#endif
