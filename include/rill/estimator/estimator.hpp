// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <rill/data/dataset.hpp>
#include <rill/estimator/estimator_core.hpp>
#include <rill/estimator/feature_column.hpp>
#include <rill/ops/control/group.hpp>
#include <rill/ops/state/variables.hpp>
#include <rill/ops/table/vocabulary.hpp>
#include <rill/train/global_step.hpp>
#include <rill/train/metrics.hpp>

namespace rill { inline namespace RILL_ABI {

/// The label that a model function gets for prediction, when the input has none.
struct no_label {};

struct estimator_options {
    std::string model_dir = {}; // checkpoints to continue from; empty: the values stay in memory
    std::uint64_t seed = 1;     // of the initial values
};

namespace detail {

template <class X> inline constexpr bool is_dataset = false;
template <class... T> inline constexpr bool is_dataset<dataset_of<T...>> = true;

/// Returns the dataset of an input: the input itself, or the result of a function. Elements without a batch axis are batched.
template <class Input> auto dataset_of_input(const Input& input) {
    if constexpr (!is_dataset<Input>) {
        return dataset_of_input(input());
    } else {
        using last =
            decltype([]<class... C>(components<C...>) -> std::tuple_element_t<sizeof...(C) - 1, std::tuple<C...>> {
                return {};
            }(typename Input::components()));
        constexpr index_t usual_batch = 128;
        if constexpr (extents_of<last>::rank == 0)
            return input.template batch<usual_batch>();
        else
            return input;
    }
}

/// Returns the elements of a dataset as a tuple of tensors. `epoch` changes the order of shuffles.
template <class Data> auto next_element(const Data& data, std::uint64_t epoch) {
    const Data later(epoch_source(data.source(), epoch), data.inputs());
    const auto element = later.make_one_shot_iterator().get_next();
    if constexpr (requires { std::tuple_size<std::remove_const_t<decltype(element)>>::value; })
        return element;
    else
        return std::tuple(element);
}

/// Returns all elements of a tuple but the last `Drop`.
template <std::size_t Drop, class... X> auto without_last(const std::tuple<X...>& all) {
    return [&]<std::size_t... I>(std::index_sequence<I...>) {
        return std::tuple(std::get<I>(all)...);
    }(std::make_index_sequence<sizeof...(X) - Drop>());
}

/// Returns a tensor as numbers, [batch, n]; a null handle for text.
template <class X> tensor<float, dyn, dyn> numbers_of(const X& x) {
    if constexpr (same_dtype<value_type_of<X>, std::string>) {
        return {};
    } else {
        static_assert(extents_of<X>::rank == 1 || extents_of<X>::rank == 2,
                      "estimator: a feature is [batch] or [batch, n]");
        const auto values = sealed(cast<float>(x));
        if constexpr (extents_of<X>::rank == 1)
            return {unchecked, any_tensor(sealed(expand_dims<1>(values)))};
        else
            return {unchecked, any_tensor(values)};
    }
}

/// Returns the features of a canned model. A single feature [batch, n] stands for n numeric ones in the order of the keys.
template <class... X>
std::vector<input_feature> named_features(const std::tuple<X...>& features, const std::vector<std::string>& of_dataset,
                                          const std::vector<std::string>& keys) {
    std::vector<input_feature> all;
    if constexpr (sizeof...(X) == 1) {
        const auto table = numbers_of(std::get<0>(features));
        if (table && keys.size() > 1) {
            for (std::size_t i = 0; i < keys.size(); ++i) {
                const auto column = sealed(gather<1>(table, std::vector<int>{static_cast<int>(i)})); // [batch, 1]
                const tensor<float, dyn, dyn> numbers(unchecked, any_tensor(column));
                all.push_back({keys[i], any_tensor(sealed(squeeze<1>(column))), numbers});
            }
            return all;
        }
    }
    std::apply([&](const auto&... x) { (all.push_back({{}, any_tensor(x), numbers_of(x)}), ...); }, features);
    const auto names = feature_names(of_dataset, keys, all.size());
    for (std::size_t i = 0; i < all.size(); ++i) all[i].name = names[i];
    return all;
}

/// Calls a model: a canned one with named features, a function with tensors.
template <class Model, class Features, class Label>
estimator_spec build_model(const Model& model, const Features& features, const Label& label, estimator_mode mode,
                           const std::vector<std::string>& names) {
    if constexpr (requires { model.keys(); })
        return model(named_features(features, names, model.keys()), label, mode);
    else if constexpr (std::tuple_size_v<Features> == 1)
        return model(std::get<0>(features), label, mode);
    else
        return model(features, label, mode);
}

template <class... Unused> operation initialize_all() {
    return group(global_variables_initializer(), local_variables_initializer(), tables_initializer());
}

} // namespace detail

/// An estimator: a model that trains, evaluates and predicts, each time in a graph and a session of its own. Its variables are passed on in
/// memory, or by checkpoints in model_dir, also to another process:
///
///     estimator model([](const auto& x, const auto& label, estimator_mode mode) { estimator_spec s; …; return s; }, {.model_dir = "run"});
///     model.train(data, {.steps = 1000});
///
/// An input is a dataset whose last component is the label, or a function that returns one. For prediction the input has no label: the
/// model function gets no_label.
template <class Model> class estimator {
public:
    explicit estimator(Model model, const estimator_options& o = {})
        : model_(std::move(model)), core_(o.model_dir, o.seed) {}

    /// Trains on an input from its beginning, and returns the global step. Each call that goes on, also from a model_dir, has a shuffle
    /// order and random numbers of its own.
    template <class Input> std::int64_t train(const Input& input, const train_options& o = {}) {
        return with_graph<1>(input, estimator_mode::train, [&](const auto& g, const auto& spec, const auto& init) {
            return core_.train(g, spec, init, o);
        });
    }
    /// Evaluates the trained model. Throws failed_precondition if it was not trained.
    template <class Input> model_evaluation evaluate(const Input& input, const evaluate_options& o = {}) {
        return with_graph<1>(input, estimator_mode::evaluate, [&](const auto& g, const auto& spec, const auto& init) {
            return core_.evaluate(g, spec, init, o);
        });
    }
    /// Returns the predictions by name, for each example of an input without labels.
    template <class Input> std::vector<std::map<std::string, any_array>> predict(const Input& input) {
        return with_graph<0>(input, estimator_mode::predict, [&](const auto& g, const auto& spec, const auto& init) {
            return core_.predict(g, spec, init);
        });
    }

    const std::string& model_dir() const noexcept { return core_.model_dir(); }
    /// Builds the graph for prediction, with placeholders named as the features. Calls f(graph, predictions, session) with the trained
    /// values. The features are those of the last input. Throws failed_precondition without an earlier input.
    void serve(const std::function<void(const graph&, const estimator_spec&, const session&)>& f) const {
        if (!serve_)
            throw failed_precondition(
                "estimator: the features are not known before train, evaluate or predict is called");
        serve_(*this, f);
    }

protected:
    const Model& model() const noexcept { return model_; }

private:
    using served = std::function<void(const graph&, const estimator_spec&, const session&)>;

    template <std::size_t Labels, class Input, class F>
    auto with_graph(const Input& input, estimator_mode mode, const F& f) {
        graph g;
        const graph_scope here(g);
        // a training goes on with other shuffles and other random numbers than an earlier one
        const auto turn = mode == estimator_mode::train ? core_.next_turn() : std::uint64_t(0);
        g.set_seed(turn == 0 ? core_.seed() : detail::hash_combine(core_.seed(), turn));
        const auto data = detail::dataset_of_input(input);
        const auto names = data.names();
        const auto element = detail::next_element(data, turn);
        static_assert(std::tuple_size_v<std::remove_const_t<decltype(element)>> > Labels,
                      "estimator: an element is the features and, last, the label");
        const auto features = detail::without_last<Labels>(element);
        get_or_create_global_step();
        remember(features, names);
        const auto spec = [&] {
            if constexpr (Labels == 1)
                return detail::build_model(
                    model_, features, std::get<std::tuple_size_v<std::remove_const_t<decltype(element)>> - 1>(element),
                    mode, names);
            else
                return detail::build_model(model_, features, no_label(), mode, names);
        }();
        return f(g, spec, detail::initialize_all());
    }

    /// Stores a function that makes placeholders of the same types.
    template <class... X> void remember(const std::tuple<X...>& features, std::vector<std::string> names) {
        std::vector<tensor_type> types;
        std::apply([&](const auto&... x) { (types.push_back(type_of(x.end())), ...); }, features);
        if constexpr (requires { model_.keys(); })
            if (names.empty() && sizeof...(X) > 1) names = model_.keys();
        serve_ = [types, names](const estimator& self, const served& f) {
            graph g;
            const graph_scope here(g);
            std::size_t at = 0;
            const auto next = [&]<class T>(std::type_identity<T>) {
                const auto i = at++;
                const std::string name = i < names.size()    ? names[i]
                                         : sizeof...(X) == 1 ? "features"
                                                             : "feature_" + std::to_string(i);
                return T(detail::unchecked,
                         any_tensor(detail::add_placeholder(types[i], name, std::source_location::current())));
            };
            const std::tuple<X...> inputs{next(std::type_identity<X>())...};
            const auto spec = detail::build_model(self.model_, inputs, no_label(), estimator_mode::predict, names);
            const session s(g);
            self.core_.restore(s);
            f(g, spec, s);
        };
    }

    Model model_;
    detail::estimator_core core_;
    std::function<void(const estimator&, const served&)> serve_;
};

struct train_spec {
    std::int64_t max_steps = 0;        // of the global step
    std::int64_t evaluate_steps = 100; // training steps between evaluations
    int patience = 0;                  // stops after so many evaluations without a better loss; 0: no early stop
};

/// Alternates training and evaluation, until max_steps or until the loss of the evaluation stops falling. Returns the last evaluation.
template <class Estimator, class TrainInput, class EvaluateInput>
model_evaluation train_and_evaluate(Estimator& e, const TrainInput& train, const EvaluateInput& evaluate,
                                    const train_spec& o) {
    if (o.max_steps < 1 || o.evaluate_steps < 1)
        throw invalid_argument("train_and_evaluate: max_steps and evaluate_steps must be 1 or more");
    model_evaluation last;
    double best = 0;
    for (int turn = 0, since_best = 0;; ++turn) {
        const auto step = e.train(train, {.steps = o.evaluate_steps, .max_steps = o.max_steps});
        const bool has_moved = turn == 0 || step > last.global_step;
        last = e.evaluate(evaluate);
        since_best = turn == 0 || last.loss < best ? 0 : since_best + 1;
        if (since_best == 0) best = last.loss;
        if (step >= o.max_steps || !has_moved || (o.patience > 0 && since_best >= o.patience)) return last;
    }
}

}} // namespace rill::RILL_ABI
