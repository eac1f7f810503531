// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <type_traits>

#include <rill/ops/array/ones_like.hpp>
#include <rill/ops/array/size.hpp>
#include <rill/ops/array/stop_gradient.hpp>
#include <rill/ops/math/abs.hpp>
#include <rill/ops/math/add_n.hpp>
#include <rill/ops/math/cast.hpp>
#include <rill/ops/math/log.hpp>
#include <rill/ops/math/maximum.hpp>
#include <rill/ops/math/not_equal.hpp>
#include <rill/ops/math/reduce_sum.hpp>
#include <rill/ops/math/squared_difference.hpp>
#include <rill/ops/nn/huber_loss.hpp>
#include <rill/ops/nn/sigmoid_cross_entropy.hpp>
#include <rill/ops/nn/softmax_cross_entropy.hpp>
#include <rill/ops/nn/sparse_softmax_cross_entropy.hpp>

// Losses with weights and reductions. Labels come first, as in TensorFlow's tf.losses; each loss joins collections::losses.

namespace rill { inline namespace RILL_ABI {

/// The ways in which a loss reduces its elements. none keeps them. sum_by_nonzero_weights divides the sum by the number of weights that are
/// not zero.
enum class loss_reduction { none, sum, sum_over_batch_size, sum_by_nonzero_weights };

/// The weights of a loss: a number, or a tensor that broadcasts to the loss's elements, with the same rank.
class loss_weights {
public:
    loss_weights() = default;
    template <class N>
        requires std::is_arithmetic_v<N>
    loss_weights(N number) : number_(static_cast<double>(number)) {}                        // NOLINT: is one
    template <graph_operand W> loss_weights(const W& weights) : tensor_(sealed(weights)) {} // NOLINT: is one

    double number() const { return number_; }
    const any_tensor& tensor() const { return tensor_; }

private:
    double number_ = 1;
    any_tensor tensor_;
};

struct loss_options {
    loss_weights weights = {};
    /// The reduction to one number. loss_reduction::none changes the type of the loss, so that it is a template argument instead:
    /// losses::log_loss<loss_reduction::none>(labels, predictions).
    loss_reduction reduction = loss_reduction::sum_by_nonzero_weights;
    double label_smoothing = 0; // of softmax_cross_entropy and sigmoid_cross_entropy: towards uniform labels
};

namespace detail {

/// Returns the weights as a tensor of an element type; throws invalid_argument if dtype or rank differ from the loss's.
any_tensor checked_weights(const char* loss, const any_tensor& weights, const tensor_type& elements,
                           const std::source_location& where);

template <loss_reduction R, class L>
auto reduced_loss(const char* name, const L& losses, const loss_options& o, const std::source_location& where) {
    static_assert(R == loss_reduction::none || R == loss_reduction::sum_by_nonzero_weights,
                  "losses: only loss_reduction::none is a template argument; write {.reduction = ...} for the others");
    using T = value_type_of<L>;
    if (R != loss_reduction::none && o.reduction == loss_reduction::none)
        throw invalid_argument(std::string("losses::") + name +
                               ": loss_reduction::none is a template argument: losses::" + name +
                               "<loss_reduction::none>(...)" + at_place(where));
    const bool by_present = o.reduction == loss_reduction::sum_by_nonzero_weights;
    const auto all = sealed(losses);
    const auto add = [](const auto& loss) {
        loss.graph().add_to_collection(collections::losses, loss.end());
        return loss;
    };
    const auto reduce = [&](const auto& weighted, const auto& present) {
        const auto total = sealed(reduce_sum(weighted, where));
        if (o.reduction == loss_reduction::sum) return total;
        return sealed(total / maximum(present, 1)); // 0 without elements
    };
    const auto count = [&] { return cast<T>(size<std::int64_t>(all, where)); };
    if (!o.weights.tensor()) {
        const double by = o.weights.number();
        if constexpr (R == loss_reduction::none)
            return add(sealed(by * all));
        else if (by_present && by == 0)
            return add(sealed(0. * reduce_sum(all, where)));
        else
            return add(reduce(by * all, count()));
    }
    const any_tensor given = checked_weights(name, o.weights.tensor(), operand_type(all), where);
    const auto spread = [&](const auto& w) { // to the shape of the losses
        return tensor_of<T, extents_of<L>>(unchecked, any_tensor(sealed(w * ones_like(all))));
    };
    const auto weights = type_of(given.end()).shape.rank == 0 ? spread(tensor<T>(unchecked, given))
                                                              : spread(typed_result<void, L>(rank_of_first, given));
    if constexpr (R == loss_reduction::none)
        return add(sealed(weights * all));
    else if (by_present)
        return add(reduce(weights * all, reduce_sum(cast<T>(not_equal(weights, 0)), where)));
    else
        return add(reduce(weights * all, count()));
}

/// Checks that labels and predictions have one dtype and shape.
template <class A, class B> constexpr void check_loss_operands() {
    static_assert(typed_operand<A> && typed_operand<B>, "losses: labels and predictions are typed tensors");
    static_assert(dtypes_agree<rill::dtype_tag<A>, rill::dtype_tag<B>>,
                  "losses: the dtypes of labels and predictions differ; convert with cast<T>()");
    static_assert(rules::compatible(extents_of<A>::value, extents_of<B>::value),
                  "losses: the shapes of labels and predictions differ");
}

/// Returns the sum of the losses of the current graph.
any_tensor sum_of_losses(bool regularization, const std::source_location& where);

} // namespace detail

namespace losses {

/// Applies weights and a reduction to losses [batch, ..]. Returns a number, or the weighted losses for loss_reduction::none.
template <loss_reduction R = loss_reduction::sum_by_nonzero_weights, typed_operand L>
auto compute_weighted_loss(const L& elements, const loss_options& o = {},
                           const std::source_location& where = std::source_location::current()) {
    return detail::reduced_loss<R>("compute_weighted_loss", elements, o, where);
}

/// Returns the squares of the differences, weighted and reduced.
template <loss_reduction R = loss_reduction::sum_by_nonzero_weights, typed_operand A, typed_operand B>
auto mean_squared_error(const A& labels, const B& predictions, const loss_options& o = {},
                        const std::source_location& where = std::source_location::current()) {
    detail::check_loss_operands<A, B>();
    return detail::reduced_loss<R>("mean_squared_error", squared_difference(predictions, labels), o, where);
}

/// Returns the absolute differences, weighted and reduced.
template <loss_reduction R = loss_reduction::sum_by_nonzero_weights, typed_operand A, typed_operand B>
auto absolute_difference(const A& labels, const B& predictions, const loss_options& o = {},
                         const std::source_location& where = std::source_location::current()) {
    detail::check_loss_operands<A, B>();
    return detail::reduced_loss<R>("absolute_difference", abs(predictions - labels), o, where);
}

/// Returns the cross entropy of labels that are probabilities [batch, classes], and logits. Each row has one loss. The labels get no
/// gradient, as in TensorFlow 1.x.
template <loss_reduction R = loss_reduction::sum_by_nonzero_weights, typed_operand A, typed_operand B>
auto softmax_cross_entropy(const A& labels, const B& logits, const loss_options& o = {},
                           const std::source_location& where = std::source_location::current()) {
    detail::check_loss_operands<A, B>();
    const index_t classes = rules::extent_along(detail::operand_type(sealed(logits)).shape, -1);
    if (o.label_smoothing != 0 && classes == dyn)
        throw invalid_argument("softmax_cross_entropy: label smoothing needs a known number of classes" +
                               detail::at_place(where));
    const auto fixed = stop_gradient(sealed(labels), where);
    const auto smooth = sealed(fixed * (1 - o.label_smoothing) +
                               (o.label_smoothing == 0 ? 0. : o.label_smoothing / static_cast<double>(classes)));
    return detail::reduced_loss<R>("softmax_cross_entropy", rill::softmax_cross_entropy(logits, smooth, where), o,
                                   where);
}

/// Returns the cross entropy of labels that are classes, int or std::int64_t [batch], and logits [batch, classes].
template <loss_reduction R = loss_reduction::sum_by_nonzero_weights, typed_operand A, typed_operand B>
auto sparse_softmax_cross_entropy(const A& labels, const B& logits, const loss_options& o = {},
                                  const std::source_location& where = std::source_location::current()) {
    return detail::reduced_loss<R>("sparse_softmax_cross_entropy",
                                   rill::sparse_softmax_cross_entropy(logits, labels, where), o, where);
}

/// Returns the cross entropy of labels between 0 and 1, and logits. Each element has one loss.
template <loss_reduction R = loss_reduction::sum_by_nonzero_weights, typed_operand A, typed_operand B>
auto sigmoid_cross_entropy(const A& labels, const B& logits, const loss_options& o = {},
                           const std::source_location& where = std::source_location::current()) {
    detail::check_loss_operands<A, B>();
    const auto smooth = sealed(labels * (1 - o.label_smoothing) + 0.5 * o.label_smoothing);
    return detail::reduced_loss<R>("sigmoid_cross_entropy", rill::sigmoid_cross_entropy(logits, smooth), o, where);
}

/// Returns the hinge loss max(0, 1 - t x) of logits x. Labels 0 and 1 count as t = -1 and 1.
template <loss_reduction R = loss_reduction::sum_by_nonzero_weights, typed_operand A, typed_operand B>
auto hinge_loss(const A& labels, const B& logits, const loss_options& o = {},
                const std::source_location& where = std::source_location::current()) {
    detail::check_loss_operands<A, B>();
    return detail::reduced_loss<R>("hinge_loss", maximum(1 - (2 * labels - 1) * logits, 0), o, where);
}

/// Returns the log loss -z log(p + epsilon) - (1 - z) log(1 - p + epsilon) of labels z and probabilities p.
template <loss_reduction R = loss_reduction::sum_by_nonzero_weights, typed_operand A, typed_operand B>
auto log_loss(const A& labels, const B& predictions, double epsilon = 1e-7, const loss_options& o = {},
              const std::source_location& where = std::source_location::current()) {
    detail::check_loss_operands<A, B>();
    const auto p = sealed(predictions); // read twice
    return detail::reduced_loss<R>("log_loss", -(labels * log(p + epsilon)) - (1 - labels) * log(1 - p + epsilon), o,
                                   where);
}

/// Returns the Huber loss: e^2 / 2 for errors |e| <= delta, else delta |e| - delta^2 / 2.
template <loss_reduction R = loss_reduction::sum_by_nonzero_weights, typed_operand A, typed_operand B>
auto huber_loss(const A& labels, const B& predictions, double delta = 1, const loss_options& o = {},
                const std::source_location& where = std::source_location::current()) {
    detail::check_loss_operands<A, B>();
    const auto error = abs(predictions - labels);
    return detail::reduced_loss<R>(
        "huber_loss", select(error <= delta, 0.5 * square(error), delta * (error - 0.5 * delta)), o, where);
}

/// Returns 1 - the sum of products along an axis: cosine_distance<1>(labels, predictions). The operands must be unit vectors along that
/// axis.
template <int Axis, loss_reduction R = loss_reduction::sum_by_nonzero_weights, typed_operand A, typed_operand B>
auto cosine_distance(const A& labels, const B& predictions, const loss_options& o = {},
                     const std::source_location& where = std::source_location::current()) {
    detail::check_loss_operands<A, B>();
    const auto products = labels * predictions;
    static_assert(axes_exist<extents_of<decltype(labels * predictions)>, Axis>,
                  "cosine_distance: the axis is out of range");
    return detail::reduced_loss<R>("cosine_distance", 1 - reduce_sum<Axis>(products, keep_dims, where), o, where);
}
/// Overload for an axis known only at run time: cosine_distance(labels, predictions, 1).
template <loss_reduction R = loss_reduction::sum_by_nonzero_weights, typed_operand A, typed_operand B>
auto cosine_distance(const A& labels, const B& predictions, int axis, const loss_options& o = {},
                     const std::source_location& where = std::source_location::current()) {
    detail::check_loss_operands<A, B>();
    const auto products = labels * predictions;
    detail::require_axes("cosine_distance", products, axis_list{axis}, where);
    return detail::reduced_loss<R>("cosine_distance", 1 - reduce_sum(products, axis, keep_dims, where), o, where);
}

/// Returns the mean squared difference between the errors of pairs of elements. The value of a row of [batch, n] is
/// the mean of (e_i - e_j)^2 over its n (n - 1) / 2 pairs i < j. The result is the weighted sum of the rows, as in TensorFlow 1.x. A mean
/// of the rows is refused.
template <typed_operand A, typed_operand B>
auto mean_pairwise_squared_error(const A& labels, const B& predictions, const loss_options& o = {},
                                 const std::source_location& where = std::source_location::current()) {
    detail::check_loss_operands<A, B>();
    static_assert(extents_of<A>::rank == 2, "mean_pairwise_squared_error: the operands must be matrices, [batch, n]");
    if (o.reduction != loss_reduction::sum && o.reduction != loss_options{}.reduction)
        throw invalid_argument("losses::mean_pairwise_squared_error: the rows are added up; leave the reduction out" +
                               detail::at_place(where));
    using T = value_type_of<A>;
    const auto error = sealed(predictions - labels);
    const auto n = sealed(cast<T>(size<std::int64_t>(error, where)) /
                          maximum(cast<T>(size<std::int64_t>(reduce_sum<1>(error, where), where)), 1));
    const auto squares = reduce_sum<1>(square(error), where);
    const auto sums = square(reduce_sum<1>(error, where));
    // the squared differences of all pairs are n * (sum of squares) - (sum)^2
    const auto of_row = 2 * (n * squares - sums) / maximum(n * (n - 1), 1);
    return detail::reduced_loss<loss_reduction::sum_by_nonzero_weights>(
        "mean_pairwise_squared_error", of_row, {.weights = o.weights, .reduction = loss_reduction::sum}, where);
}

/// Returns the sum of collections::losses and, by default, of the regularization losses of the current graph.
template <element T = float>
tensor<T> get_total_loss(bool add_regularization_losses = true,
                         const std::source_location& where = std::source_location::current()) {
    detail::require_uniform<add_op, T>(std::make_index_sequence<2>{});
    return tensor<T>(detail::sum_of_losses(add_regularization_losses, where), where);
}

} // namespace losses

}} // namespace rill::RILL_ABI

#if !RILL_COMPILED
#include <rill/train/losses.ipp>
#endif
