// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/estimator/feature_column.hpp>

#include <algorithm>
#include <utility>

namespace rill { inline namespace RILL_ABI {

RILL_COLD feature_column feature_columns_access::make(std::vector<std::string> keys, category_ids_op ids,
                                                      std::int64_t categories) {
    if (categories < 1)
        throw invalid_argument("feature column '" + keys[0] + "': it has " + std::to_string(categories) +
                               " categories; 1 or more are needed");
    feature_column c;
    c.keys_ = std::move(keys);
    c.is_categorical_ = true;
    c.ids_ = std::move(ids);
    c.ids_.categories = categories;
    c.categories_ = categories;
    return c;
}

RILL_COLD feature_column feature_columns_access::numeric(const std::string& key, const numeric_column_options& o) {
    if (!(o.stddev > 0))
        throw invalid_argument("numeric_column '" + key + "': the standard deviation must be positive");
    feature_column c;
    c.keys_ = {key};
    c.mean_ = o.mean;
    c.stddev_ = o.stddev;
    return c;
}

RILL_COLD feature_column feature_columns_access::bucketized(const feature_column& numeric,
                                                            const std::vector<double>& boundaries) {
    if (numeric.is_categorical_) throw invalid_argument("bucketized_column: the column is not numeric");
    if (boundaries.empty() || std::adjacent_find(boundaries.begin(), boundaries.end(),
                                                 [](double a, double b) { return !(a < b); }) != boundaries.end())
        throw invalid_argument("bucketized_column '" + numeric.keys_[0] + "': the boundaries must ascend");
    category_ids_op ids;
    ids.rule = "buckets";
    ids.list = to_any_array<double>(std::vector<double>(boundaries), dims{dyn});
    return make(numeric.keys_, std::move(ids), static_cast<std::int64_t>(boundaries.size()) + 1);
}

RILL_COLD feature_column feature_columns_access::shown_as(const feature_column& categorical, index_t dimension) {
    if (!categorical.is_categorical_)
        throw invalid_argument("feature column '" + categorical.keys_[0] + "': it is not categorical");
    feature_column c = categorical;
    c.dimension_ = dimension;
    return c;
}

RILL_COLD const input_feature& feature_columns_access::find(const std::vector<input_feature>& all,
                                                            const std::string& key) {
    std::string names;
    for (const auto& f : all) {
        if (f.name == key) return f;
        names += (names.empty() ? "'" : ", '") + f.name + "'";
    }
    throw invalid_argument("feature column '" + key + "': the input has no such feature; it has " + names);
}

RILL_COLD endpoint feature_columns_access::category_input(const input_feature& f) {
    const tensor_type type = type_of(f.value.end());
    if (type.shape.known_rank() && type.shape.rank != 1)
        throw invalid_argument("feature column '" + f.name +
                               "': a categorical column takes a feature of the shape [batch], not " + to_string(type));
    return f.value.end();
}

RILL_COLD feature_column numeric_column(const std::string& key, const numeric_column_options& o) {
    return feature_columns_access::numeric(key, o);
}

RILL_COLD feature_column bucketized_column(const feature_column& numeric, const std::vector<double>& boundaries) {
    return feature_columns_access::bucketized(numeric, boundaries);
}

namespace detail {

template <class T> feature_column vocabulary_column(const std::string& key, const std::vector<T>& words) {
    auto sorted = words;
    std::sort(sorted.begin(), sorted.end());
    if (std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end())
        throw invalid_argument("feature column '" + key + "': the vocabulary holds a word twice");
    category_ids_op ids;
    ids.rule = "vocabulary";
    ids.list = to_any_array<T>(std::vector<T>(words), dims{dyn});
    return feature_columns_access::make({key}, std::move(ids), static_cast<std::int64_t>(words.size()));
}

inline feature_column ruled_column(const char* rule, std::vector<std::string> keys, std::int64_t categories) {
    category_ids_op ids;
    ids.rule = rule;
    return feature_columns_access::make(std::move(keys), std::move(ids), categories);
}

} // namespace detail

RILL_COLD feature_column categorical_column_with_vocabulary_list(const std::string& key,
                                                                 const std::vector<std::string>& words) {
    return detail::vocabulary_column(key, words);
}

RILL_COLD feature_column categorical_column_with_vocabulary_list(const std::string& key,
                                                                 const std::vector<std::int64_t>& numbers) {
    return detail::vocabulary_column(key, numbers);
}

RILL_COLD feature_column categorical_column_with_hash_bucket(const std::string& key, std::int64_t buckets) {
    return detail::ruled_column("hash", {key}, buckets);
}

RILL_COLD feature_column categorical_column_with_identity(const std::string& key, std::int64_t buckets) {
    return detail::ruled_column("identity", {key}, buckets);
}

RILL_COLD feature_column crossed_column(const std::vector<std::string>& keys, std::int64_t buckets) {
    if (keys.size() < 2 || keys.size() > 6) throw invalid_argument("crossed_column: it takes two to six features");
    return detail::ruled_column("hash", keys, buckets);
}

RILL_COLD feature_column indicator_column(const feature_column& categorical) {
    return feature_columns_access::shown_as(categorical, 0);
}

RILL_COLD feature_column embedding_column(const feature_column& categorical, index_t dimension) {
    if (dimension < 1) throw invalid_argument("embedding_column: the dimension must be 1 or more");
    return feature_columns_access::shown_as(categorical, dimension);
}

}} // namespace rill::RILL_ABI
