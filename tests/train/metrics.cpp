// SPDX-License-Identifier: BSD-3-Clause
#include <rill/train/metrics.hpp>

#include <rill/ops/array/placeholder.hpp>
#include <rill/session/session.hpp>

#include "catch.hpp"

using namespace rill;

namespace test_train_metrics {

/// Runs a metric of int vectors over batches, and compares its value after each with the wanted ones.
template <class Make, class T>
void follow(const char* what, const Make& make, const std::vector<std::vector<int>>& labels,
            const std::vector<std::vector<T>>& predictions, const std::vector<double>& wanted) {
    INFO(what);
    const graph g;
    const graph_scope here(g);
    const placeholder<int, dyn> t("t");
    const placeholder<T, dyn> p("p");
    const auto [value, update] = make(t, p);
    CHECK(trainable_variables().empty());
    CHECK(global_variables().empty());
    const session s(g);
    s.run(local_variables_initializer());
    CHECK(s.run(value) == 0.f);
    for (std::size_t i = 0; i < wanted.size(); ++i) {
        CHECK(s.run(update, feed(t, labels[i]), feed(p, predictions[i])) == Approx(wanted[i]));
        CHECK(s.run(value) == Approx(wanted[i]));
    }
}

TEST_CASE("metrics: values after each batch") {
    using list = std::vector<std::vector<int>>;
    const list labels{{1, 0, 1, 1}, {0, 1}}, said{{1, 1, 0, 1}, {0, 0}};
    const auto run = [&](const char* what, const auto& make, const std::vector<double>& wanted) {
        follow<decltype(make), int>(what, make, labels, said, wanted);
    };
    run("accuracy", [](auto t, auto p) { return metrics::accuracy(t, p); }, {0.5, 0.5});
    run("mean", [](auto t, auto) { return metrics::mean(t); }, {0.75, 4. / 6});
    run("precision", [](auto t, auto p) { return metrics::precision(t, p); }, {2. / 3, 2. / 3});
    run("recall", [](auto t, auto p) { return metrics::recall(t, p); }, {2. / 3, 0.5});
    run("true_positives", [](auto t, auto p) { return metrics::true_positives(t, p); }, {2, 2});
    run("false_positives", [](auto t, auto p) { return metrics::false_positives(t, p); }, {1, 1});
    run("true_negatives", [](auto t, auto p) { return metrics::true_negatives(t, p); }, {0, 1});
    run("false_negatives", [](auto t, auto p) { return metrics::false_negatives(t, p); }, {1, 2});
    run("mean_squared_error", [](auto t, auto p) { return metrics::mean_squared_error(t, p); }, {0.5, 0.5});
    run("root_mean_squared_error", [](auto t, auto p) { return metrics::root_mean_squared_error(t, p); },
        {std::sqrt(0.5), std::sqrt(0.5)});
    run("mean_iou", [](auto t, auto p) { return metrics::mean_iou<3>(t, p); },
        {(0. / 2 + 2. / 4) / 2, (1. / 4 + 2. / 5) / 2});
    run("mean_per_class_accuracy", [](auto t, auto p) { return metrics::mean_per_class_accuracy<2>(t, p); },
        {(0. + 2. / 3) / 2, (1. / 2 + 2. / 4) / 2});
    // pairs of a true and a false one in the right order: 5 of 6, then 7 of 8 (three of which in the second batch)
    follow<decltype([](auto t, auto p) { return metrics::auc(t, p); }), float>(
        "auc", {}, {{1, 0, 1, 0, 1}}, {{0.9f, 0.2f, 0.6f, 0.7f, 0.8f}}, {5. / 6});
}

TEST_CASE("metrics: an empty batch changes nothing") {
    using list = std::vector<std::vector<int>>;
    const list labels{{}, {1, 0, 1, 1}, {}}, said{{}, {1, 1, 0, 1}, {}};
    const auto run = [&](const char* what, const auto& make, double wanted) {
        follow<decltype(make), int>(what, make, labels, said, {0, wanted, wanted});
    };
    run("accuracy", [](auto t, auto p) { return metrics::accuracy(t, p); }, 0.5);
    run("mean", [](auto t, auto) { return metrics::mean(t); }, 0.75);
    run("precision", [](auto t, auto p) { return metrics::precision(t, p); }, 2. / 3);
    run("recall", [](auto t, auto p) { return metrics::recall(t, p); }, 2. / 3);
    run("mean_squared_error", [](auto t, auto p) { return metrics::mean_squared_error(t, p); }, 0.5);
    run("mean_iou", [](auto t, auto p) { return metrics::mean_iou<3>(t, p); }, 0.25);
    run("mean_per_class_accuracy", [](auto t, auto p) { return metrics::mean_per_class_accuracy<2>(t, p); }, 1. / 3);
}

} // namespace test_train_metrics
