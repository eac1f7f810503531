// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include <rill/estimator/estimator.hpp>
#include <rill/graph/serialization/serialization.hpp>
#include <rill/train/freeze.hpp>

namespace rill { inline namespace RILL_ABI {

/// Writes the graph for prediction, with the trained values as constants. Its inputs are placeholders with the names of the features. Its
/// outputs have the names of the predictions ("probabilities", "class_ids", "logits"; "predictions" of a regressor):
///
///     export_model(iris, "iris.rill");
///     session(import_graph("iris.rill")).run(fetch("probabilities:0"), feed("sepal_length:0", v), …)
///
/// Throws failed_precondition if the model was not trained, or has had no input in this program.
template <class Model> void export_model(const estimator<Model>& model, const std::string& path) {
    model.serve([&](const graph& g, const estimator_spec& spec, const session& s) {
        const graph_scope here(g);
        std::vector<any_tensor> outputs;
        for (const auto& [name, value] : spec.predictions)
            outputs.push_back(any_tensor(detail::named_edge(value.end(), name, std::source_location())));
        export_graph(freeze(s, outputs), path);
    });
}

}} // namespace rill::RILL_ABI
