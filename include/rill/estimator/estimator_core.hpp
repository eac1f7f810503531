// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <concepts>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <rill/core/named_array.hpp>
#include <rill/session/session.hpp>
#include <rill/train/adagrad.hpp>
#include <rill/train/saver.hpp>

namespace rill { inline namespace RILL_ABI {

enum class estimator_mode { train, evaluate, predict };

/// A metric over many batches: its value, and the update that adds a batch.
struct estimator_metric {
    std::string name;
    any_tensor value, update;
};

/// A model as its function builds it. The function sets the members that its mode needs.
struct estimator_spec {
    tensor<float> loss = {};                                          // for training
    operation train = {};                                             // for training
    std::vector<std::pair<std::string, any_tensor>> predictions = {}; // for prediction: [batch, ..] each
    std::vector<estimator_metric> metrics = {};                       // for evaluation
};

/// Any optimizer: adam(1e-3f), adagrad({.learning_rate = 0.1f}).
class any_optimizer {
public:
    any_optimizer() = default; // none
    template <class Optimizer>
        requires requires(const Optimizer& o, const tensor<float>& loss) { o.minimize(loss); }
    any_optimizer(const Optimizer& o) // NOLINT: is one
        : minimize_([o](const tensor<float>& loss, const minimize_options& how) { return o.minimize(loss, how); }) {}
    explicit operator bool() const { return minimize_ != nullptr; }
    operation minimize(const tensor<float>& loss, const minimize_options& how) const { return minimize_(loss, how); }

private:
    std::function<operation(const tensor<float>&, const minimize_options&)> minimize_;
};

struct train_options {
    std::int64_t steps = 0;     // additional steps; 0: to the end of the input, or to max_steps
    std::int64_t max_steps = 0; // of the global step, over all calls; 0: no limit
    std::int64_t save_steps = 1000;
    std::int64_t log_steps = 100; // logs the loss at this interval; 0: no log
};

struct evaluate_options {
    std::int64_t steps = 0; // batches; 0: to the end of the input
};

/// The result of an evaluation. A classifier has accuracy and loss. A regressor has the loss (the mean squared error) and its root.
struct model_evaluation {
    double accuracy = 0, loss = 0, root_mean_squared_error = 0;
    std::int64_t global_step = 0;
    std::map<std::string, double> metrics = {}; // all of them, by name
};

namespace detail {

/// The values of an estimator's variables between its sessions: in memory, or in checkpoints of a directory.
class estimator_core {
public:
    estimator_core(std::string model_dir, std::uint64_t seed) : model_dir_(std::move(model_dir)), seed_(seed) {}

    std::uint64_t seed() const noexcept { return seed_; }
    const std::string& model_dir() const noexcept { return model_dir_; }
    /// Returns a number for the next training: 0 for the first one of a model, another number for each that goes on. It follows from the
    /// steps that the model was trained for, here or by the process that wrote model_dir. Models that count no steps get other numbers, too.
    std::uint64_t next_turn();
    /// Trains a graph of its own. `init` initializes all variables. Returns the global step. Throws failed_precondition if the loss is NaN.
    std::int64_t train(const graph& g, const estimator_spec& spec, const operation& init, const train_options& o);
    model_evaluation evaluate(const graph& g, const estimator_spec& spec, const operation& init,
                              const evaluate_options& o);
    /// Returns the concatenated predictions of all examples, by name.
    std::vector<std::map<std::string, any_array>> predict(const graph& g, const estimator_spec& spec,
                                                          const operation& init);
    /// Gives a session the trained values. Throws failed_precondition if the model was not trained.
    void restore(const session& s) const;

private:
    bool restore_if_trained(const session& s) const;
    std::int64_t trained_steps() const;
    void keep(const session& s, std::int64_t step);

    const std::string model_dir_;
    const std::uint64_t seed_;
    std::int64_t begun_at_ = -1;      // the steps before the last training
    std::uint64_t repeats_ = 0;       // trainings that began at the same step
    std::vector<named_array> values_; // without a model_dir
    std::shared_ptr<saver> saver_;
};

/// Returns the names of features: those of the dataset, or else the keys of the columns in order.
std::vector<std::string> feature_names(const std::vector<std::string>& of_dataset, const std::vector<std::string>& keys,
                                       std::size_t features);

} // namespace detail

}} // namespace rill::RILL_ABI

#if !RILL_COMPILED
#include <rill/estimator/estimator_core.ipp>
#endif
