// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/nn/log_softmax.hpp>

namespace rill::inline RILL_ABI {

/// -sum(labels * log_softmax(logits)) over the last axis, in one pass that also computes the gradient by the logits (the
/// second output): softmax(logits) sum(labels) - labels. Gradient by the labels: -g log_softmax(logits).
struct softmax_cross_entropy_op {
    static constexpr auto name = "SoftmaxCrossEntropyWithLogits", label = "softmax_cross_entropy";

    std::vector<tensor_type> outputs(std::span<const tensor_type> in) const;
    std::vector<endpoint> gradient(const gradient_request& r) const;

    template <class D, class T> kernel bind(kernel_request& request) const {
        const detail::row_view v(request.inputs[0].shape);
        request.scratch_bytes = D::template row_scratch<T>(v.columns, 3);
        return kernel([=](const kernel_args& a) {
            D::softmax_cross_entropy(v.rows, v.columns, a.in<T>(0), a.in<T>(1), a.out<T>(0), a.out<T>(1),
                                     a.out<void>(2));
        });
    }
    friend bool operator==(const softmax_cross_entropy_op&, const softmax_cross_entropy_op&) = default;
};

/// Logits and labels have one shape.
template <class A, class B> inline constexpr bool shapes_agree = rules::compatible(A::value, B::value);

namespace detail {

template <class A, class B> struct cross_entropy_rule {
    static constexpr dims rows = shapes_agree<A, B> ? rules::merge(A::value, B::value) : A::value;
    static constexpr dims value = rows.rank > 0 ? rules::reduce(rows, axis_list{-1}, false).shape : dims{};
};

} // namespace detail

/// The loss of a classifier: logits and labels (probabilities) are [..., classes], the result is [...].
template <graph_operand A, graph_operand B>
auto softmax_cross_entropy(const A& logits, const B& labels,
                           const std::source_location& where = std::source_location::current()) {
    constexpr bool typed = typed_operand<A> && typed_operand<B>;
    if constexpr (typed_operand<A>) {
        static_assert(has_last_axis<extents_of<A>>, "softmax_cross_entropy: a scalar has no last axis");
        static_assert(is_real_floating<value_type_of<A>>, "softmax_cross_entropy: the element type is not floating");
    }
    if constexpr (typed) {
        static_assert(dtypes_agree<dtype_tag<A>, dtype_tag<B>>,
                      "softmax_cross_entropy: the dtypes differ; convert with cast<T>()");
        static_assert(shapes_agree<extents_of<A>, extents_of<B>>,
                      "softmax_cross_entropy: the shapes of logits and labels differ");
    }
    detail::for_floating_types_of<A>([]<class T>(std::type_identity<T>) {
        require_kernel<softmax_cross_entropy_op, T>();
        detail::require_log_softmax<T>();
        detail::require_softmax<T>();
    });
    const endpoint made = detail::make_node(softmax_cross_entropy_op{}, where, logits, labels);
    if constexpr (typed)
        return detail::typed_result<true, value_type_of<A>, detail::cross_entropy_rule<extents_of<A>, extents_of<B>>>(
            made);
    else
        return any_tensor(made);
}

} // namespace rill::inline RILL_ABI

#if !RILL_COMPILED
#include <rill/ops/nn/softmax_cross_entropy.ipp>
#endif
