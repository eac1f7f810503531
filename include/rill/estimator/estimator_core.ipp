// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/estimator/estimator_core.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>

#include <rill/core/hash.hpp>
#include <rill/core/log.hpp>
#include <rill/core/real_number.hpp>
#include <rill/data/pipeline.hpp>
#include <rill/train/global_step.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

RILL_COLD bool estimator_core::restore_if_trained(const session& s) const {
    const auto variables = saved_variables(s.graph());
    if (model_dir_.empty()) {
        if (values_.empty()) return false;
        restore_variables(s, "the trained model", variables, values_, {.allow_extra = true});
        return true;
    }
    return !saver().restore_latest(s, model_dir_, {.allow_extra = true}).empty();
}

RILL_COLD std::int64_t estimator_core::trained_steps() const {
    if (!model_dir_.empty()) {
        const auto all = checkpoints_in(model_dir_);
        return all.empty() ? 0 : all.front().step;
    }
    for (const auto& v : values_)
        if (v.name == "global_step") return v.value.value<std::int64_t>();
    return 0;
}

RILL_COLD std::uint64_t estimator_core::next_turn() {
    const auto steps = trained_steps();
    repeats_ = steps == begun_at_ ? repeats_ + 1 : 0;
    begun_at_ = steps;
    const auto turn = static_cast<std::uint64_t>(steps);
    return repeats_ == 0 ? turn : hash_combine(turn, repeats_);
}

RILL_COLD void estimator_core::restore(const session& s) const {
    if (restore_if_trained(s)) return;
    throw failed_precondition("estimator: nothing has been trained" +
                              (model_dir_.empty() ? std::string() : " in '" + model_dir_ + "'"));
}

RILL_COLD void estimator_core::keep(const session& s, std::int64_t step) {
    const auto variables = saved_variables(s.graph());
    if (model_dir_.empty()) {
        values_ = variable_values(s, variables);
        return;
    }
    // only variables: each call of train starts its input anew
    saver_options o;
    for (const auto* n : variables) o.variables.push_back(any_tensor(endpoint{n, 0}));
    saver_ = std::make_shared<saver>(o);
    make_directories(file_system::real(), model_dir_);
    saver_->save(s, model_dir_ + "/model", step);
}

RILL_COLD std::int64_t estimator_core::train(const graph& g, const estimator_spec& spec, const operation& init,
                                             const train_options& o) {
    if (!spec.loss || !spec.train.node())
        throw invalid_argument("estimator: the model has no loss or no training operation");
    if (o.steps < 0 || o.max_steps < 0)
        throw invalid_argument("estimator: steps is " + std::to_string(o.steps) + " and max_steps " +
                               std::to_string(o.max_steps) + "; they must be 0 or more");
    const session s(g);
    s.run(init);
    restore_if_trained(s);
    std::int64_t step = global_step_of(s), last = o.max_steps;
    if (o.steps > 0) {
        const auto end = step + std::min(o.steps, std::numeric_limits<std::int64_t>::max() - step);
        last = last > 0 ? std::min(last, end) : end;
    }
    const std::int64_t begin = step;
    while (last == 0 || step < last) {
        float loss = 0;
        try {
            std::tie(loss) = s.run(std::tuple(spec.train, spec.loss));
        } catch (const out_of_range&) { // the end of the input
            break;
        }
        if (std::isnan(loss)) throw failed_precondition("estimator: the loss is NaN at step " + std::to_string(step));
        ++step;
        if (o.log_steps > 0 && step % o.log_steps == 0)
            log_message(log_level::info, "estimator: step " + std::to_string(step) + ", loss " + std::to_string(loss));
        if (o.save_steps > 0 && (step - begin) % o.save_steps == 0 && step != last) keep(s, step);
    }
    step = global_step_of(s);
    keep(s, step);
    return step;
}

RILL_COLD model_evaluation estimator_core::evaluate(const graph& g, const estimator_spec& spec, const operation& init,
                                                    const evaluate_options& o) {
    if (o.steps < 0)
        throw invalid_argument("estimator: steps is " + std::to_string(o.steps) + "; it must be 0 or more");
    const session s(g);
    s.run(init);
    restore(s);
    std::vector<any_tensor> updates, values;
    for (const auto& m : spec.metrics) {
        updates.push_back(m.update);
        values.push_back(m.value);
    }
    if (updates.empty()) throw invalid_argument("estimator: the model has no metrics");
    std::int64_t batches = 0;
    try {
        for (; o.steps == 0 || batches < o.steps; ++batches) s.run(updates);
    } catch (const out_of_range&) {}
    if (batches == 0) throw invalid_argument("estimator: the input has no element to evaluate");
    model_evaluation result;
    const auto all = s.run(values);
    for (std::size_t i = 0; i < all.size(); ++i)
        result.metrics[spec.metrics[i].name] = real_number(all[i], "estimator: the metric");
    const auto of = [&](const char* name) {
        const auto at = result.metrics.find(name);
        return at == result.metrics.end() ? 0 : at->second;
    };
    result.accuracy = of("accuracy");
    result.loss = of("loss");
    result.root_mean_squared_error = of("root_mean_squared_error");
    result.global_step = global_step_of(s);
    return result;
}

RILL_COLD std::vector<std::map<std::string, any_array>>
estimator_core::predict(const graph& g, const estimator_spec& spec, const operation& init) {
    if (spec.predictions.empty()) throw invalid_argument("estimator: the model has no predictions");
    const session s(g);
    s.run(init);
    restore(s);
    std::vector<any_tensor> wanted;
    for (const auto& p : spec.predictions) wanted.push_back(p.second);
    std::vector<std::map<std::string, any_array>> all;
    try {
        for (;;) {
            const auto batch = s.run(wanted);
            for (std::size_t k = 0; k < batch.size(); ++k)
                if (batch[k].shape().rank == 0 || batch[k].shape()[0] != batch[0].shape()[0])
                    throw invalid_argument("estimator: the prediction '" + spec.predictions[k].first + "' is " +
                                           to_string(batch[k].type()) + ", '" + spec.predictions[0].first + "' is " +
                                           to_string(batch[0].type()) + "; the first extent of each is the batch");
            for (index_t i = 0; i < batch[0].shape()[0]; ++i) {
                auto& one = all.emplace_back();
                for (std::size_t k = 0; k < batch.size(); ++k)
                    one[spec.predictions[k].first] = array_slice(batch[k], i);
            }
        }
    } catch (const out_of_range&) {}
    return all;
}

RILL_COLD std::vector<std::string> feature_names(const std::vector<std::string>& of_dataset,
                                                 const std::vector<std::string>& keys, std::size_t features) {
    if (of_dataset.size() >= features)
        return {of_dataset.begin(), of_dataset.begin() + static_cast<std::ptrdiff_t>(features)};
    if (keys.size() != features)
        throw invalid_argument("estimator: the input has " + std::to_string(features) +
                               " features without names, the columns are of " + std::to_string(keys.size()));
    return keys;
}

}}} // namespace rill::RILL_ABI::detail
