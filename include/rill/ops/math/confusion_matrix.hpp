// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/array/identity.hpp>
#include <rill/ops/array/ones_like.hpp>
#include <rill/ops/array/reshape.hpp>
#include <rill/ops/control/assert.hpp>
#include <rill/ops/math/add.hpp>
#include <rill/ops/math/cast.hpp>
#include <rill/ops/math/mul.hpp>
#include <rill/ops/math/unsorted_segment_sum.hpp>

namespace rill { inline namespace RILL_ABI {

/// Returns a weighted confusion matrix: confusion_matrix<3>(labels, predictions, weights). Element [l, p] is the sum of the weights of the
/// examples with label l and prediction p. Labels and predictions are integers [n] from 0 on. Others fail the run with invalid_argument.
template <index_t Classes, typed_operand Labels, typed_operand Predictions, typed_operand Weights>
auto confusion_matrix(const Labels& labels, const Predictions& predictions, const Weights& weights,
                      const std::source_location& where = std::source_location::current()) {
    using number = value_type_of<Labels>;
    static_assert(is_integral<number> && is_integral<value_type_of<Predictions>>,
                  "confusion_matrix: labels and predictions are whole numbers");
    static_assert(Classes > 0, "confusion_matrix: there is one class or more");
    const auto of = identity(labels, where);
    const auto taken_for = identity(cast<number>(predictions), where);
    const control_dependencies after(
        assert_non_negative(of, "a label is negative", where),
        assert_non_negative(taken_for, "a prediction is negative", where),
        assert_less(of, number(Classes), "a label is not below the number of classes", where),
        assert_less(taken_for, number(Classes), "a prediction is not below the number of classes", where));
    return reshape<Classes, Classes>(
        unsorted_segment_sum<Classes * Classes>(weights, of * number(Classes) + taken_for, where), where);
}
/// Returns the confusion matrix of counts: all weights are 1.
template <index_t Classes, typed_operand Labels, typed_operand Predictions>
auto confusion_matrix(const Labels& labels, const Predictions& predictions,
                      const std::source_location& where = std::source_location::current()) {
    return confusion_matrix<Classes>(labels, predictions, cast<int>(ones_like(labels)), where);
}

}} // namespace rill::RILL_ABI
