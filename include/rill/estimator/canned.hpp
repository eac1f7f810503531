// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <utility>
#include <vector>

#include <rill/estimator/estimator.hpp>
#include <rill/ops/math/argmax.hpp>
#include <rill/ops/math/reduce_mean.hpp>
#include <rill/ops/math/relu.hpp>
#include <rill/ops/math/square.hpp>
#include <rill/ops/nn/softmax.hpp>
#include <rill/ops/nn/sparse_softmax_cross_entropy.hpp>
#include <rill/train/dense.hpp>

// Estimators with predefined models: dense layers over feature columns.

namespace rill { inline namespace RILL_ABI {

/// The hidden layers of a network: hidden<10, 10> has two layers of ten units. hidden<> is a linear model.
template <index_t... Units> struct hidden {
    static_assert(((Units > 0) && ...), "hidden: a layer has one unit or more");

    template <class X> static auto layers(const X& x) {
        int number = 0;
        return apply<Units...>(x, number);
    }

private:
    template <index_t... None, class X>
        requires(sizeof...(None) == 0)
    static tensor<float, dyn, dyn> apply(const X& x, int&) {
        return {detail::unchecked, any_tensor(x)};
    }
    template <index_t First, index_t... More, class X> static auto apply(const X& x, int& number) {
        const tensor h = relu(dense<First>("hidden_" + std::to_string(number++), x));
        return apply<More...>(h, number);
    }
};

struct classifier_options {
    int classes = 2;
    std::vector<std::string> class_names =
        {};                       // of the classes in order, and of text labels; empty: their numbers
    std::string model_dir = {};   // checkpoints to continue from; empty: the values stay in memory
    any_optimizer optimizer = {}; // none: adagrad(0.05f)
    std::uint64_t seed = 1;
};

struct regressor_options {
    std::string model_dir = {};
    any_optimizer optimizer = {}; // none: adagrad(0.05f)
    std::uint64_t seed = 1;
};

struct class_prediction {
    int class_id = 0;
    std::string class_name = {};
    std::vector<float> probabilities = {}, logits = {}; // one for each class
};

struct value_prediction {
    float value = 0;
};

namespace detail {

/// Returns the distinct keys of columns, in order.
std::vector<std::string> keys_of(const std::vector<feature_column>& columns);
void check_classes(const classifier_options& o);
class_prediction to_class_prediction(const std::map<std::string, any_array>& p, const std::vector<std::string>& names);

/// Converts a label, [batch] or [batch, 1], to numbers [batch].
template <class T, class Label> tensor<T, dyn> label_numbers(const Label& label) {
    const auto values = sealed(cast<T>(label));
    if constexpr (extents_of<Label>::rank == 1) {
        return {unchecked, any_tensor(values)};
    } else {
        static_assert(extents_of<Label>::rank == 2, "estimator: a label is [batch] or [batch, 1]");
        return {unchecked, any_tensor(sealed(squeeze<1>(values)))};
    }
}

/// Minimizes a loss; the default optimizer is adagrad. It depends on Hidden, so that only programs with an estimator have its kernels.
template <class Hidden>
operation minimize_by(const any_optimizer& o, const tensor<float>& loss, const minimize_options& how) {
    using rate = std::conditional_t<std::is_void_v<Hidden>, void, float>;
    return o ? o.minimize(loss, how) : adagrad(rate(0.05f)).minimize(loss, how);
}

/// The model of a classifier.
template <class Hidden> struct classifier_model {
    std::vector<feature_column> columns;
    classifier_options options;

    std::vector<std::string> keys() const { return keys_of(columns); }

    template <class Label>
    estimator_spec operator()(const std::vector<input_feature>& features, const Label& label,
                              estimator_mode mode) const {
        estimator_spec spec;
        const auto x = input_layer<>(features, columns);
        const tensor logits = dense("logits", Hidden::layers(x), static_cast<index_t>(options.classes));
        const tensor<int, dyn> ids(sealed(argmax<1>(logits)));
        spec.predictions = {
            {"logits", logits}, {"probabilities", any_tensor(sealed(softmax(logits)))}, {"class_ids", ids}};
        if constexpr (!std::is_same_v<Label, no_label>) {
            const auto right = class_numbers(label);
            const auto losses = sealed(sparse_softmax_cross_entropy(logits, right));
            if (mode == estimator_mode::train) {
                spec.loss = tensor<float>(sealed(reduce_mean(losses)));
                spec.train =
                    detail::minimize_by<Hidden>(options.optimizer, spec.loss, {.step = get_or_create_global_step()});
            } else {
                const auto [accuracy, accuracy_update] = metrics::accuracy(right, ids);
                const auto [loss, loss_update] = metrics::mean(losses);
                spec.metrics = {{"accuracy", accuracy, accuracy_update}, {"loss", loss, loss_update}};
            }
        }
        return spec;
    }

private:
    template <class Label> tensor<int, dyn> class_numbers(const Label& label) const {
        if constexpr (same_dtype<value_type_of<Label>, std::string>) {
            if (options.class_names.empty())
                throw invalid_argument("classifier: the labels are text; class_names must say which classes they are");
            category_ids_op op;
            op.rule = "classes";
            op.list = to_any_array<std::string>(std::vector<std::string>(options.class_names), dims{dyn});
            return label_numbers<int>(
                tensor<std::int64_t, dyn>(unchecked, apply_node(op, std::source_location(), label)));
        } else {
            return label_numbers<int>(label);
        }
    }
};

/// The model of a regressor: one value for each example.
template <class Hidden> struct regressor_model {
    std::vector<feature_column> columns;
    regressor_options options;

    std::vector<std::string> keys() const { return keys_of(columns); }

    template <class Label>
    estimator_spec operator()(const std::vector<input_feature>& features, const Label& label,
                              estimator_mode mode) const {
        estimator_spec spec;
        const auto x = input_layer<>(features, columns);
        const tensor<float, dyn> value(sealed(squeeze<1>(sealed(dense<1>("logits", Hidden::layers(x))))));
        spec.predictions = {{"predictions", value}};
        if constexpr (!std::is_same_v<Label, no_label>) {
            const auto right = label_numbers<float>(label);
            if (mode == estimator_mode::train) {
                spec.loss = tensor<float>(sealed(reduce_mean(square(value - right))));
                spec.train =
                    detail::minimize_by<Hidden>(options.optimizer, spec.loss, {.step = get_or_create_global_step()});
            } else {
                const auto [loss, loss_update] = metrics::mean_squared_error(right, value);
                const auto [root, root_update] = metrics::root_mean_squared_error(right, value);
                spec.metrics = {{"loss", loss, loss_update}, {"root_mean_squared_error", root, root_update}};
            }
        }
        return spec;
    }
};

} // namespace detail

/// A classifier with dense layers:
///
///     dnn_classifier<hidden<10, 10>> iris(columns, {.classes = 3, .model_dir = "run", .optimizer = adagrad(0.1f)});
///     iris.train(train_input, {.steps = 1000});  auto m = iris.evaluate(test_input);  auto p = iris.predict(samples);
///
/// An input is a dataset, or a function that returns one. Its features are matched by the names of a CSV header, or else in the order of
/// the columns. The last component is the label: numbers from 0, or class names. predict() takes no label.
template <class Hidden> class dnn_classifier : public estimator<detail::classifier_model<Hidden>> {
    using base = estimator<detail::classifier_model<Hidden>>;

public:
    explicit dnn_classifier(const std::vector<feature_column>& columns, const classifier_options& o = {})
        : base((detail::check_classes(o), detail::classifier_model<Hidden>{columns, o}), {o.model_dir, o.seed}) {}

    /// Returns the class of each example, with probabilities. An input may also be an xt::xtensor<float, 2> whose rows are examples.
    template <class Input> std::vector<class_prediction> predict(const Input& input) {
        if constexpr (xtensor_expression<Input>) {
            return predict(dataset::from_tensor_slices(input).template batch<128>());
        } else {
            std::vector<class_prediction> all;
            for (const auto& p : base::predict(input))
                all.push_back(detail::to_class_prediction(p, this->model().options.class_names));
            return all;
        }
    }
};

/// A classifier without hidden layers.
class linear_classifier : public dnn_classifier<hidden<>> {
public:
    using dnn_classifier::dnn_classifier;
};

/// A regressor with dense layers: one value for each example. The loss of evaluate() is the mean squared error.
template <class Hidden> class dnn_regressor : public estimator<detail::regressor_model<Hidden>> {
    using base = estimator<detail::regressor_model<Hidden>>;

public:
    explicit dnn_regressor(const std::vector<feature_column>& columns, const regressor_options& o = {})
        : base(detail::regressor_model<Hidden>{columns, o}, {o.model_dir, o.seed}) {}

    template <class Input> std::vector<value_prediction> predict(const Input& input) {
        if constexpr (xtensor_expression<Input>) {
            return predict(dataset::from_tensor_slices(input).template batch<128>());
        } else {
            std::vector<value_prediction> all;
            for (const auto& p : base::predict(input)) all.push_back({p.at("predictions").template value<float>()});
            return all;
        }
    }
};

/// A regressor without hidden layers.
class linear_regressor : public dnn_regressor<hidden<>> {
public:
    using dnn_regressor::dnn_regressor;
};

}} // namespace rill::RILL_ABI

#if !RILL_COMPILED
#include <rill/estimator/canned.ipp>
#endif
