// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/math/confusion_matrix.hpp>

#include <rill/ops/array/placeholder.hpp>
#include <rill/session/session.hpp>

#include "catch.hpp"

using namespace rill;

TEST_CASE("confusion_matrix: counts and sums of weights by label and prediction, numbers out of range are refused") {
    const graph_scope here{graph()};
    const placeholder<int, dyn> labels("labels");
    const placeholder<std::int64_t, dyn> predictions("predictions");
    const placeholder<float, dyn> weights("weights");
    const tensor<int, 3, 3> counts = confusion_matrix<3>(labels, predictions);
    const tensor<float, 3, 3> sums = confusion_matrix<3>(labels, predictions, weights);
    const session s;
    const auto given = [](auto... n) { return std::vector<int>{n...}; };
    const std::vector<std::int64_t> taken{0, 2, 2, 1, 2};
    CHECK((s.run(counts, feed(labels, given(0, 1, 1, 1, 2)), feed(predictions, taken)) ==
           xt::xtensor<int, 2>{{1, 0, 0}, {0, 1, 2}, {0, 0, 1}}));
    CHECK((s.run(sums, feed(labels, given(0, 1, 1, 1, 2)), feed(predictions, taken),
                 feed(weights, std::vector<float>{1, 0.5, 0.25, 3, 4})) ==
           xt::xtensor<float, 2>{{1, 0, 0}, {0, 3, 0.75}, {0, 0, 4}}));
    const tensor<int, dyn, dyn> counted = confusion_matrix(labels, predictions, 3); // classes at run time
    const tensor<float, dyn, dyn> summed = confusion_matrix(labels, predictions, weights, index_t{3});
    CHECK((s.run(counted, feed(labels, given(0, 1, 1, 1, 2)), feed(predictions, taken)) ==
           xt::xtensor<int, 2>{{1, 0, 0}, {0, 1, 2}, {0, 0, 1}}));
    CHECK((s.run(summed, feed(labels, given(0, 1, 1, 1, 2)), feed(predictions, taken),
                 feed(weights, std::vector<float>{1, 0.5, 0.25, 3, 4})) ==
           xt::xtensor<float, 2>{{1, 0, 0}, {0, 3, 0.75}, {0, 0, 4}}));
    CHECK_THROWS_WITH(s.run(counted, feed(labels, given(0, 3, 1, 1, 2)), feed(predictions, taken)),
                      contains("a label is not below the number of classes"));
    CHECK_THROWS_WITH(confusion_matrix(labels, predictions, 0), contains("the number of classes is 0, not 1 or more"));
    CHECK_THROWS_WITH(s.run(counts, feed(labels, given(0, 3, 1, 1, 2)), feed(predictions, taken)),
                      contains("a label is not below the number of classes"));
    CHECK_THROWS_WITH(s.run(counts, feed(labels, given(0, -1, 1, 1, 2)), feed(predictions, taken)),
                      contains("a label is negative"));
    CHECK_THROWS_WITH(s.run(counts, feed(labels, given(0)), feed(predictions, std::vector<std::int64_t>{5})),
                      contains("a prediction is not below"));
}
