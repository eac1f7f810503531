// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>

#include <rill/ops/math/select.hpp>
#include <rill/ops/nn/log_softmax.hpp>

namespace rill { inline namespace RILL_ABI {

namespace detail {

/// Computes the loss of a row of logits and labels, and its gradient by the logits.
template <class T> struct cross_entropy_row {
    template <class Layout, class In, class Out, class Numbers>
    RILL_FN void operator()(const Layout& l, const In& in, const Out& out, const Numbers& loss) const {
        using V = typename Layout::V;
        using C = typename V::value_type;
        const auto [largest, sum] = exponentials(l, in[0], out[0]);
        const V log_sum = log(sum), total = l.sum([&](auto p) { return l.load(in[1], p); }), top = largest;
        const V entropy = l.sum([&](auto p) {
            const V share = l.load(in[1], p);
            // A class with probability 0 and label 0 contributes 0 instead of 0 times infinity.
            return select(share == V(C(0)), V(C(0)), share * (log_sum - (l.load(in[0], p) - top)));
        });
        const V scale = total / sum;
        l.each([&](auto p) { l.store(l.load(out[0], p) * scale - l.load(in[1], p), out[0], p); });
        C each[Layout::lanes];
        l.store_numbers(entropy, each);
        for (int r = 0; r < l.rows; ++r) loss.written[r] = static_cast<T>(each[r]);
    }
};

} // namespace detail

/// Computes -sum(labels * log_softmax(logits)) over the last axis. The same pass computes the gradient for the logits,
/// the second output: softmax(logits) sum(labels) - labels. Gradient for the labels: -g log_softmax(logits).
struct softmax_cross_entropy_op {
    static constexpr auto name = "SoftmaxCrossEntropyWithLogits", label = "softmax_cross_entropy";
    static constexpr int inputs = 2;
    using domain_type = domains::real_floating;
    using compiled_types = types::floats;
    using brings = joined_ops<detail::row_ops, op_list<log_softmax_op, softmax_op>>;

    std::vector<tensor_type> outputs(std::span<const tensor_type> in) const;
    std::vector<endpoint> gradient(const gradient_request& r) const;

    template <class D, class T> kernel bind(kernel_request& request) const {
        const detail::row_view v(request.inputs[0].shape);
        request.scratch_bytes = D::template row_scratch<T>(v.columns, 3);
        return kernel([=](const kernel_args& a) {
            D::rows(a.on, v.rows, v.columns, std::array{a.in<T>(0), a.in<T>(1)}, std::array{a.out<T>(1)},
                    row_numbers<T>{nullptr, a.out<T>(0)}, detail::cross_entropy_row<T>{});
        });
    }
};

/// True if logits and labels have the same shape.
template <class A, class B> inline constexpr bool shapes_agree = rules::compatible(static_dims<A>, static_dims<B>);

namespace rules {

/// Returns the shape of the losses for logits and labels of one shape, [..., classes].
constexpr shape_result cross_entropy(const dims& logits, const dims& labels) {
    if (!compatible(logits, labels)) return {logits, "the shapes of logits and labels differ"};
    const dims rows = merge(logits, labels);
    if (rows.rank == 0) return {rows, "a scalar has no last axis"};
    return rows.known_rank() ? reduce(rows, axis_list{-1}, false) : shape_result{dims::unknown()};
}

} // namespace rules

/// Computes the loss of a classifier. Logits and labels (probabilities) are [..., classes], the result is [...].
template <graph_operand A, graph_operand B>
auto softmax_cross_entropy(const A& logits, const B& labels,
                           const std::source_location& where = std::source_location::current()) {
    if constexpr (typed_operand<A>) {
        static_assert(has_last_axis<extents_of<A>>, "softmax_cross_entropy: a scalar has no last axis");
        static_assert(is_real_floating<value_type_of<A>>, "softmax_cross_entropy: the element type is not floating");
    }
    if constexpr (typed_operand<A> && typed_operand<B>) {
        static_assert(dtypes_agree<dtype_tag<A>, dtype_tag<B>>,
                      "softmax_cross_entropy: the dtypes differ; convert with cast<T>()");
        static_assert(shapes_agree<extents_of<A>, extents_of<B>>,
                      "softmax_cross_entropy: the shapes of logits and labels differ");
    }
    constexpr auto rule = [](const dims& x, const dims& y) { return rules::cross_entropy(x, y); };
    return apply_node(softmax_cross_entropy_op{}, rule, where, logits, labels);
}

}} // namespace rill::RILL_ABI

#if RILL_DEFINE
namespace rill { inline namespace RILL_ABI {

RILL_INLINE std::vector<tensor_type> softmax_cross_entropy_op::outputs(std::span<const tensor_type> in) const {
    if (in[0].type != in[1].type)
        throw invalid_argument("the dtypes differ: " + to_string(in[0]) + " and " + to_string(in[1]));
    const auto loss = rules::cross_entropy(in[0].shape, in[1].shape);
    if (!loss.ok()) throw invalid_argument(loss.reason());
    return {{in[0].type, loss.shape}, {in[0].type, rules::merge(in[0].shape, in[1].shape)}};
}

RILL_INLINE std::vector<endpoint> softmax_cross_entropy_op::gradient(const gradient_request& r) const {
    using namespace detail;
    using self = softmax_cross_entropy_op;
    const endpoint logits = r.input(0), labels = r.input(1), g = r.gradient(0), h = r.gradient(1);
    std::vector<endpoint> d(2);
    if (r.wanted[0] && g) d[0] = row_product<self>(each_row(g), {r.output(1)});
    if (r.wanted[1] && g) {
        const endpoint log_p = r.add<self>(log_softmax_op{}, {logits});
        d[1] = row_program<self>({each_row(g), {log_p}}, false, [](auto t) {
            return t.template emit<neg_op>({t.template emit<mul_op>({t.leaf(0), t.leaf(1)})});
        });
    }
    if (h) { // second-order gradient, of p sum(labels) - labels with p = softmax(logits)
        const endpoint p = r.add<self>(softmax_op{}, {logits});
        if (r.wanted[0])
            d[0] = sum_of(d[0], row_product<self>(each_row(row_sum<self>(labels)), {softmax_gradient<self>(p, h)}));
        if (r.wanted[1])
            d[1] = sum_of(d[1], row_program<self>({each_row(row_dot<self>(h, p)), {h}}, false, [](auto t) {
                              return t.template emit<sub_op>({t.leaf(0), t.leaf(1)});
                          }));
    }
    return d;
}

}} // namespace rill::RILL_ABI
#endif
