// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/estimator/canned.hpp>

#include <rill/core/algorithm.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

RILL_COLD std::vector<std::string> keys_of(const std::vector<feature_column>& columns) {
    std::vector<std::string> all;
    for (const auto& c : columns)
        for (const auto& key : c.keys())
            if (!contains(all, key)) all.push_back(key);
    return all;
}

RILL_COLD void check_classes(const classifier_options& o) {
    if (o.classes < 2)
        throw invalid_argument("classifier: there are " + std::to_string(o.classes) + " classes; 2 or more are needed");
    if (!o.class_names.empty() && o.class_names.size() != static_cast<std::size_t>(o.classes))
        throw invalid_argument("classifier: there are " + std::to_string(o.classes) + " classes and " +
                               std::to_string(o.class_names.size()) + " class names");
}

RILL_COLD class_prediction to_class_prediction(const std::map<std::string, any_array>& p,
                                               const std::vector<std::string>& names) {
    class_prediction made;
    made.class_id = p.at("class_ids").value<std::int32_t>();
    made.class_name = names.empty() ? std::to_string(made.class_id) : names[static_cast<std::size_t>(made.class_id)];
    const auto probabilities = p.at("probabilities").elements<float>(), logits = p.at("logits").elements<float>();
    made.probabilities.assign(probabilities.begin(), probabilities.end());
    made.logits.assign(logits.begin(), logits.end());
    return made;
}

}}} // namespace rill::RILL_ABI::detail
