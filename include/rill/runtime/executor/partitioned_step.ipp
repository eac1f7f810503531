// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/runtime/executor/partitioned_step.hpp>

#include <utility>

#include <rill/runtime/executor/run_plan.hpp>
#include <rill/runtime/executor/step_executor.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

RILL_COLD partitioned_step::partitioned_step(const partitioned_plan& p, std::span<const any_array> feeds)
    : plan_(p), exchange_(p.edges().size()), results_(p.parts().size()), left_(p.parts().size()) {
    for (const auto& part : p.parts()) {
        std::vector<any_array> own;
        for (const int f : part.made.feed_numbers) own.push_back(feeds[static_cast<std::size_t>(f)]);
        runs_.push_back(nested_run_of(*part.run, own));
    }
}

RILL_COLD void partitioned_step::start(const step_context& context, std::function<void()> resume) {
    step_.emplace(context, plan_.progress_timeout(), std::move(resume));
    step_->context.exchange = &exchange_;
    for (std::size_t k = 0; k < runs_.size(); ++k)
        if (auto all = runs_[k]->begin(*this, k, step_->events, step_->context)) nested_done(k, std::move(*all));
}

RILL_COLD bool partitioned_step::drive() { return step_executor::drive(*step_, left_); }

RILL_COLD std::vector<any_array> partitioned_step::fetched() const {
    std::vector<any_array> all(plan_.fetches());
    for (std::size_t k = 0; k < results_.size(); ++k) {
        const auto& numbers = plan_.parts()[k].made.fetch_numbers;
        for (std::size_t i = 0; i < numbers.size(); ++i) all[static_cast<std::size_t>(numbers[i])] = results_[k][i];
    }
    return all;
}

RILL_COLD void partitioned_step::nested_done(std::size_t part, std::vector<any_array> results) {
    results_[part] = std::move(results);
    --left_;
}

RILL_COLD void partitioned_step::rethrow_nested(std::size_t) const { throw; }

}}} // namespace rill::RILL_ABI::detail
