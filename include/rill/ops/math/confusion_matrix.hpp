// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include <rill/ops/array/identity.hpp>
#include <rill/ops/array/ones_like.hpp>
#include <rill/ops/array/reshape.hpp>
#include <rill/ops/control/assert.hpp>
#include <rill/ops/math/add.hpp>
#include <rill/ops/math/cast.hpp>
#include <rill/ops/math/mul.hpp>
#include <rill/ops/math/unsorted_segment_sum.hpp>

namespace rill { inline namespace RILL_ABI {

namespace detail {

/// Returns the matrix that `sums` makes of the numbers of cells [n], after a check of the labels and predictions.
template <typed_operand Labels, typed_operand Predictions, class Sums>
auto checked_confusion(const Labels& labels, const Predictions& predictions, index_t classes, const Sums& sums,
                       const std::source_location& where) {
    using number = value_type_of<Labels>;
    static_assert(is_integral<number> && is_integral<value_type_of<Predictions>>,
                  "confusion_matrix: labels and predictions are whole numbers");
    const auto count = static_cast<number>(classes);
    const auto of = identity(labels, where);
    const auto taken_for = identity(cast<number>(predictions), where);
    const control_dependencies after(
        assert_non_negative(of, "a label is negative", where),
        assert_non_negative(taken_for, "a prediction is negative", where),
        assert_less(of, count, "a label is not below the number of classes", where),
        assert_less(taken_for, count, "a prediction is not below the number of classes", where));
    return sums(of * count + taken_for);
}

} // namespace detail

/// Returns a weighted confusion matrix: confusion_matrix<3>(labels, predictions, weights). Element [l, p] is the sum of the weights of the
/// examples with label l and prediction p. Labels and predictions are integers [n] from 0 on. Others fail the run with invalid_argument.
template <index_t Classes, typed_operand Labels, typed_operand Predictions, typed_operand Weights>
auto confusion_matrix(const Labels& labels, const Predictions& predictions, const Weights& weights,
                      const std::source_location& where = std::source_location::current()) {
    static_assert(Classes > 0, "confusion_matrix: there is one class or more");
    const auto sums = [&](const auto& cells) {
        return reshape<Classes, Classes>(unsorted_segment_sum<Classes * Classes>(weights, cells, where), where);
    };
    return detail::checked_confusion(labels, predictions, Classes, sums, where);
}
/// Returns the confusion matrix of counts: all weights are 1.
template <index_t Classes, typed_operand Labels, typed_operand Predictions>
auto confusion_matrix(const Labels& labels, const Predictions& predictions,
                      const std::source_location& where = std::source_location::current()) {
    return confusion_matrix<Classes>(labels, predictions, cast<int>(ones_like(labels)), where);
}

/// Overload for a number of classes known only at run time: confusion_matrix(labels, predictions, weights, n).
template <typed_operand Labels, typed_operand Predictions, typed_operand Weights, host_integer N>
auto confusion_matrix(const Labels& labels, const Predictions& predictions, const Weights& weights, N classes,
                      const std::source_location& where = std::source_location::current()) {
    const auto n = static_cast<index_t>(classes);
    if (n < 1)
        throw invalid_argument("confusion_matrix: the number of classes is " + std::to_string(n) + ", not 1 or more" +
                               detail::at_place(where));
    const auto sums = [&](const auto& cells) {
        return tensor_of<value_type_of<Weights>, extents<dyn, dyn>>(
            detail::unchecked, reshape(unsorted_segment_sum(weights, cells, n * n, where), dims{n, n}, where));
    };
    return detail::checked_confusion(labels, predictions, n, sums, where);
}
template <typed_operand Labels, typed_operand Predictions, host_integer N>
auto confusion_matrix(const Labels& labels, const Predictions& predictions, N classes,
                      const std::source_location& where = std::source_location::current()) {
    return confusion_matrix(labels, predictions, cast<int>(ones_like(labels)), classes, where);
}

}} // namespace rill::RILL_ABI
