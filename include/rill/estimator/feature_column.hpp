// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <rill/ops/array/concat.hpp>
#include <rill/ops/array/expand_dims.hpp>
#include <rill/ops/array/gather.hpp>
#include <rill/ops/array/one_hot.hpp>
#include <rill/ops/array/squeeze.hpp>
#include <rill/ops/input/category_ids.hpp>
#include <rill/ops/linalg/matmul.hpp>
#include <rill/ops/math/cast.hpp>
#include <rill/ops/math/div.hpp>
#include <rill/ops/math/sub.hpp>
#include <rill/train/get_variable.hpp>

// Feature columns: the conversion of input features to the numbers of a model.

namespace rill { inline namespace RILL_ABI {

/// A description of input columns of a model. The functions below make them.
class feature_column {
public:
    /// Returns the names of the features that the column uses.
    const std::vector<std::string>& keys() const noexcept { return keys_; }

private:
    friend struct feature_columns_access;
    std::vector<std::string> keys_;
    bool is_categorical_ = false;
    double mean_ = 0, stddev_ = 1; // of a numeric column
    category_ids_op ids_;          // of a categorical one
    std::int64_t categories_ = 0;
    index_t dimension_ = 0; // of an embedding; 0: one column for each category
};

struct numeric_column_options {
    double mean = 0, stddev = 1; // the model sees (x - mean) / stddev
};

/// Describes a feature of numbers, [batch] or [batch, n].
feature_column numeric_column(const std::string& key, const numeric_column_options& o = {});
/// Divides a numeric column into ranges: bucketized_column(age, {18, 65}) has three. Throws invalid_argument unless the boundaries
/// ascend.
feature_column bucketized_column(const feature_column& numeric, const std::vector<double>& boundaries);
/// Makes categories of the words or numbers of a list; other values have no category. Throws invalid_argument for a duplicate.
feature_column categorical_column_with_vocabulary_list(const std::string& key, const std::vector<std::string>& words);
feature_column categorical_column_with_vocabulary_list(const std::string& key,
                                                       const std::vector<std::int64_t>& numbers);
/// Maps words or whole numbers to categories by a hash.
feature_column categorical_column_with_hash_bucket(const std::string& key, std::int64_t buckets);
/// Uses whole numbers below a limit as categories.
feature_column categorical_column_with_identity(const std::string& key, std::int64_t buckets);
/// Makes categories of the combinations of several features of text or whole numbers, by a hash.
feature_column crossed_column(const std::vector<std::string>& keys, std::int64_t buckets);
/// Represents a categorical column as one-hot values, which is also its default representation.
feature_column indicator_column(const feature_column& categorical);
/// Represents a categorical column as a trainable embedding vector.
feature_column embedding_column(const feature_column& categorical, index_t dimension);

/// A feature of a model's input: its name, its original value, and the value as numbers.
struct input_feature {
    std::string name;
    any_tensor value;
    tensor<float, dyn, dyn> numbers; // [batch, n]; a null handle of text
};

/// The functions here with access to a column's members.
struct feature_columns_access {
    static feature_column make(std::vector<std::string> keys, category_ids_op ids, std::int64_t categories);
    static feature_column numeric(const std::string& key, const numeric_column_options& o);
    static feature_column bucketized(const feature_column& numeric, const std::vector<double>& boundaries);
    static feature_column shown_as(const feature_column& categorical, index_t dimension);
    static const input_feature& find(const std::vector<input_feature>& all, const std::string& key);

    /// Adds the nodes of a column: [batch, width]. All of its calls depend on T, so that only programs with columns have its kernels.
    template <class T>
    static tensor<T, dyn, dyn> add(const feature_column& c, const std::vector<input_feature>& features, int number) {
        const auto& first = find(features, c.keys_[0]);
        const tensor<T, dyn, dyn> numbers = first.numbers;
        using id = std::conditional_t<std::is_void_v<T>, void, std::int64_t>;
        if (!c.is_categorical_) {
            if (!first.numbers)
                throw invalid_argument("numeric_column: the feature '" + first.name + "' is text, not numbers");
            if (c.mean_ == 0 && c.stddev_ == 1) return numbers;
            return sealed((numbers - static_cast<T>(c.mean_)) / static_cast<T>(c.stddev_));
        }
        require_kernel<category_ids_op, void>();
        endpoint_list inputs;
        for (const auto& key : c.keys_) inputs.push_back(category_input(find(features, key)));
        const any_tensor made(endpoint{detail::add_node(current_graph(), make_op(c.ids_), inputs, {}, false, {}), 0});
        const tensor<id, dyn> ids(detail::unchecked, made);
        if (c.dimension_ == 0) return tensor<T, dyn, dyn>(sealed(one_hot(ids, c.categories_)));
        const variable_scope scope("embedding_" + std::to_string(number));
        const auto table =
            get_variable<T, dyn, dyn>("weights", dims{c.categories_, c.dimension_}, detail::default_initializer());
        if (c.ids_.rule != "vocabulary") return tensor<T, dyn, dyn>(sealed(gather<0>(table, ids)));
        const tensor<T, dyn, dyn> shown(sealed(one_hot(ids, c.categories_)));
        return sealed(matmul(shown, table)); // a word outside the vocabulary gives zeros
    }

private:
    /// Returns the edge of a feature for categories. Throws invalid_argument unless it is [batch].
    static endpoint category_input(const input_feature& f);
};

/// Returns the columns concatenated, [batch, width]. Throws invalid_argument for a feature that the input lacks.
template <class T = float> // a template, so that only programs that call it have its kernels
tensor<T, dyn, dyn> input_layer(const std::vector<input_feature>& features,
                                const std::vector<feature_column>& columns) {
    if (columns.empty()) throw invalid_argument("input_layer: there are no feature columns");
    std::vector<tensor<T, dyn, dyn>> parts;
    for (const auto& c : columns)
        parts.push_back(feature_columns_access::add<T>(c, features, static_cast<int>(parts.size())));
    if (parts.size() == 1) return parts[0];
    return tensor<T, dyn, dyn>(detail::unchecked, any_tensor(concat(parts, 1)));
}

}} // namespace rill::RILL_ABI

#if !RILL_COMPILED
#include <rill/estimator/feature_column.ipp>
#endif
