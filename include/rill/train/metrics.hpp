// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <tuple>
#include <vector>

#include <rill/ops/array/expand_dims.hpp>
#include <rill/ops/array/eye.hpp>
#include <rill/ops/array/one_hot.hpp>
#include <rill/ops/array/size.hpp>
#include <rill/ops/array/slice.hpp>
#include <rill/ops/array/transpose.hpp>
#include <rill/ops/linalg/matmul.hpp>
#include <rill/ops/math/cast.hpp>
#include <rill/ops/math/equal.hpp>
#include <rill/ops/math/greater.hpp>
#include <rill/ops/math/logical_and.hpp>
#include <rill/ops/math/logical_not.hpp>
#include <rill/ops/math/maximum.hpp>
#include <rill/ops/math/reduce_sum.hpp>
#include <rill/ops/math/sqrt.hpp>
#include <rill/ops/math/squared_difference.hpp>
#include <rill/ops/state/variable.hpp>

// Metrics over many batches: auto [value, update] = metrics::accuracy(labels, predictions). Running `update` adds a batch and returns the
// new value. `value` reads the value so far. The sums are local variables: local_variables_initializer() sets them to zero.

namespace rill { inline namespace RILL_ABI {

namespace detail {

/// Makes a sum over batches: a local float variable of zeros.
template <index_t... D> variable<float, D...> metric_variable(const char* name, const std::source_location& where) {
    return variable<float, D...>(name, 0.f, {.trainable = false, .local = true}, where);
}

/// Returns (total / count, the same after a batch's total and count are added).
template <class Total, class Count>
auto streaming_quotient(const char* metric, const Total& total, const Count& count, const std::source_location& where) {
    const name_scope scope(metric);
    const auto sum = metric_variable<>("total", where), number = metric_variable<>("count", where);
    const auto quotient = [](const auto& a, const auto& b) { return sealed(a / maximum(b, 1e-7)); };
    const auto new_sum = sum.assign_add(sealed(total), where), new_number = number.assign_add(sealed(count), where);
    return std::tuple(quotient(sum, number), quotient(new_sum, new_number));
}

/// Returns (sum, sum after a batch is added). It is one number, or one for each threshold.
template <class X> auto streaming_sum(const char* name, const X& x, const std::source_location& where) {
    const auto added = sealed(x);
    using E = extents_of<decltype(added)>;
    return [&]<index_t... D>(extents<D...>*) {
        const auto sum = metric_variable<D...>(name, where);
        return std::tuple(tensor<float, D...>(sum), sum.assign_add(added, where));
    }(static_cast<E*>(nullptr));
}

template <class X> auto as_numbers(const X& x) { return cast<float>(x); }
template <class X> auto count_of(const X& x) { return reduce_sum(as_numbers(x)); }

template <class A, class B> constexpr void check_metric_operands() {
    static_assert(typed_operand<A> && typed_operand<B>, "metrics: labels and predictions are typed tensors");
    static_assert(rules::compatible(extents_of<A>::value, extents_of<B>::value),
                  "metrics: the shapes of labels and predictions differ");
}

/// The counts of a confusion matrix of bool labels and bool predictions. Each is (sum, sum after a batch).
enum class confusion { true_positives, false_positives, true_negatives, false_negatives };
template <class A, class B> auto confused(confusion what, const A& labels, const B& predictions) {
    const auto label = sealed(cast<bool>(labels)), predicted = sealed(cast<bool>(predictions));
    const bool truth = what == confusion::true_positives || what == confusion::false_negatives;
    const bool said = what == confusion::true_positives || what == confusion::false_positives;
    return sealed(count_of(logical_and(equal(label, truth), equal(predicted, said))));
}

/// Returns the (value, update) of a / (a + b) for two counts.
template <class A, class B>
auto streaming_share(const char* metric, confusion a, confusion b, const A& labels, const B& predictions,
                     const std::source_location& where) {
    check_metric_operands<A, B>();
    const auto right = confused(a, labels, predictions), other = confused(b, labels, predictions);
    return streaming_quotient(metric, right, right + other, where);
}

/// Returns the confusion matrix [Classes, Classes]: rows are labels, columns predictions.
template <index_t Classes, class A, class B>
auto streaming_confusion(const A& labels, const B& predictions, const std::source_location& where) {
    const auto a = one_hot<Classes, float>(labels), b = one_hot<Classes, float>(predictions);
    return streaming_sum("total_confusion_matrix", matmul(transpose(a), b, where), where);
}

} // namespace detail

namespace metrics {

/// Returns the (value, update) of the mean of all elements.
template <typed_operand X>
auto mean(const X& values, const std::source_location& where = std::source_location::current()) {
    const auto x = sealed(detail::as_numbers(values));
    return detail::streaming_quotient("mean", reduce_sum(x, where), cast<float>(size(x, where)), where);
}

/// Returns the (value, update) of the share of predictions that equal their labels.
template <typed_operand A, typed_operand B>
auto accuracy(const A& labels, const B& predictions,
              const std::source_location& where = std::source_location::current()) {
    detail::check_metric_operands<A, B>();
    const auto x = sealed(cast<float>(equal(labels, predictions)));
    return detail::streaming_quotient("accuracy", reduce_sum(x, where), cast<float>(size(x, where)), where);
}

/// Returns the (value, update) of the mean of the squared differences.
template <typed_operand A, typed_operand B>
auto mean_squared_error(const A& labels, const B& predictions,
                        const std::source_location& where = std::source_location::current()) {
    detail::check_metric_operands<A, B>();
    const auto x = sealed(detail::as_numbers(squared_difference(predictions, labels)));
    return detail::streaming_quotient("mean_squared_error", reduce_sum(x, where), cast<float>(size(x, where)), where);
}

/// Returns the (value, update) of the root of the mean of the squared differences.
template <typed_operand A, typed_operand B>
auto root_mean_squared_error(const A& labels, const B& predictions,
                             const std::source_location& where = std::source_location::current()) {
    const auto [value, update] = mean_squared_error(labels, predictions, where);
    return std::tuple(sealed(sqrt(value)), sealed(sqrt(update)));
}

/// Returns the (value, update) of the number of elements whose label and prediction are both true. Numbers other than
/// zero are true. The three functions after this one count the other cases.
template <typed_operand A, typed_operand B>
auto true_positives(const A& labels, const B& predictions,
                    const std::source_location& where = std::source_location::current()) {
    detail::check_metric_operands<A, B>();
    return detail::streaming_sum("true_positives",
                                 detail::confused(detail::confusion::true_positives, labels, predictions), where);
}
template <typed_operand A, typed_operand B>
auto false_positives(const A& labels, const B& predictions,
                     const std::source_location& where = std::source_location::current()) {
    detail::check_metric_operands<A, B>();
    return detail::streaming_sum("false_positives",
                                 detail::confused(detail::confusion::false_positives, labels, predictions), where);
}
template <typed_operand A, typed_operand B>
auto true_negatives(const A& labels, const B& predictions,
                    const std::source_location& where = std::source_location::current()) {
    detail::check_metric_operands<A, B>();
    return detail::streaming_sum("true_negatives",
                                 detail::confused(detail::confusion::true_negatives, labels, predictions), where);
}
template <typed_operand A, typed_operand B>
auto false_negatives(const A& labels, const B& predictions,
                     const std::source_location& where = std::source_location::current()) {
    detail::check_metric_operands<A, B>();
    return detail::streaming_sum("false_negatives",
                                 detail::confused(detail::confusion::false_negatives, labels, predictions), where);
}

/// Returns the (value, update) of the share of true labels among true predictions.
template <typed_operand A, typed_operand B>
auto precision(const A& labels, const B& predictions,
               const std::source_location& where = std::source_location::current()) {
    return detail::streaming_share("precision", detail::confusion::true_positives, detail::confusion::false_positives,
                                   labels, predictions, where);
}
/// Returns the (value, update) of the share of true predictions among true labels.
template <typed_operand A, typed_operand B>
auto recall(const A& labels, const B& predictions,
            const std::source_location& where = std::source_location::current()) {
    return detail::streaming_share("recall", detail::confusion::true_positives, detail::confusion::false_negatives,
                                   labels, predictions, where);
}

/// Returns the (value, update) of the mean over classes of intersection over union: mean_iou<10>(labels, predictions), of classes [n].
/// Classes that never occur do not count.
template <index_t Classes, typed_operand A, typed_operand B>
auto mean_iou(const A& labels, const B& predictions,
              const std::source_location& where = std::source_location::current()) {
    const name_scope scope("mean_iou");
    const auto [value, update] = detail::streaming_confusion<Classes>(labels, predictions, where);
    const auto score = [&](const auto& counts) {
        const auto both = sealed(reduce_sum<1>(counts * eye<float, Classes>()));
        const auto all = sealed(reduce_sum<0>(counts) + reduce_sum<1>(counts) - both);
        const auto present = detail::count_of(greater(all, 0));
        return sealed(reduce_sum(both / maximum(all, 1e-7)) / maximum(present, 1));
    };
    return std::tuple(score(value), score(update));
}

/// Returns the (value, update) of the mean over classes of the accuracy within each: mean_per_class_accuracy<10>(labels, predictions), of
/// classes [n].
template <index_t Classes, typed_operand A, typed_operand B>
auto mean_per_class_accuracy(const A& labels, const B& predictions,
                             const std::source_location& where = std::source_location::current()) {
    const name_scope scope("mean_per_class_accuracy");
    const auto [value, update] = detail::streaming_confusion<Classes>(labels, predictions, where);
    const auto score = [&](const auto& counts) {
        const auto right = reduce_sum<1>(counts * eye<float, Classes>()), all = reduce_sum<1>(counts);
        return sealed(reduce_sum(right / maximum(all, 1e-7)) / static_cast<double>(Classes));
    };
    return std::tuple(score(value), score(update));
}

/// Returns the (value, update) of the area under the ROC curve. It is the trapezoidal sum over Thresholds thresholds from 0 to 1. Labels
/// are true or false, predictions lie between 0 and 1, both [n].
template <index_t Thresholds = 200, typed_operand A, typed_operand B>
auto auc(const A& labels, const B& predictions, const std::source_location& where = std::source_location::current()) {
    detail::check_metric_operands<A, B>();
    static_assert(extents_of<A>::rank == 1, "auc: labels and predictions must be vectors, [n]");
    static_assert(Thresholds >= 2, "auc: two thresholds at least");
    const name_scope scope("auc");
    std::vector<float> limits;
    for (index_t i = 0; i < Thresholds; ++i)
        limits.push_back(static_cast<float>(static_cast<double>(i) / static_cast<double>(Thresholds - 1)));
    limits.front() = -1e-7f;
    limits.back() = 1 + 1e-7f;
    const tensor<float, Thresholds> at(any_tensor(constant(limits, where)));
    const auto positive = sealed(expand_dims<1>(detail::as_numbers(cast<bool>(labels))));
    const auto above =
        sealed(detail::as_numbers(greater(expand_dims<1>(detail::as_numbers(predictions)), at))); // [n, thresholds]
    const auto [tp, tp_update] = detail::streaming_sum("true_positives", reduce_sum<0>(above * positive), where);
    const auto [fp, fp_update] = detail::streaming_sum("false_positives", reduce_sum<0>(above * (1 - positive)), where);
    const auto [p, p_update] = detail::streaming_sum("positives", reduce_sum(positive), where);
    const auto [n, n_update] = detail::streaming_sum("negatives", reduce_sum(1 - positive), where);
    const auto area = [](const auto& hits, const auto& alarms, const auto& of, const auto& others) {
        const tensor rate = hits / maximum(of, 1e-7);
        const tensor wrong = alarms / maximum(others, 1e-7);
        constexpr index_t steps = Thresholds - 1;
        const auto first = [](const auto& t) { return slice<steps>(t, {0}); };
        const auto next = [](const auto& t) { return slice<steps>(t, {1}); };
        return sealed(reduce_sum((first(wrong) - next(wrong)) * (first(rate) + next(rate)) * 0.5));
    };
    return std::tuple(area(tp, fp, p, n), area(tp_update, fp_update, p_update, n_update));
}

} // namespace metrics

}} // namespace rill::RILL_ABI
