// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/session/partitioned_run.hpp>

#include <functional>
#include <optional>
#include <utility>

#include <rill/core/shared.hpp>
#include <rill/graph/op/exchange_ops.hpp>
#include <rill/runtime/executor/partitioned_step.hpp>
#include <rill/runtime/executor/posted_step.hpp>
#include <rill/runtime/plan/partitioned_plan.hpp>
#include <rill/runtime/trace/step_recorder.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

RILL_COLD void register_partitioned_runs() {
    register_exchange_ops();
    make_partitioned_run = [](const plan_key& key, const session_options& options,
                              std::shared_ptr<local_session_state> session) -> std::shared_ptr<prepared_run> {
        auto made = partitioned_plan::make(key, options, session->resources, *session->where);
        return made ? detail::make_shared<partitioned_run>(std::move(made), std::move(session)) : nullptr;
    };
}

RILL_COLD partitioned_run::partitioned_run(std::unique_ptr<partitioned_plan> of,
                                           std::shared_ptr<local_session_state> session)
    : session_(std::move(session)), plan_(std::move(of)) {}

RILL_COLD partitioned_run::~partitioned_run() = default;

RILL_COLD step_result partitioned_run::run(std::span<const any_array> feeds, std::span<const fetch_place>,
                                           const run_options* how) {
    session_->check_open();
    try {
        auto context = how ? session_->context_of(*how) : session_->context;
        context.check();
        std::optional<traced_step> traced;
        if (how && how->trace) traced.emplace(*how->trace, context);
        partitioned_step step(*plan_, feeds);
        step.start(context);
        step.drive();
        return step_result(step.fetched());
    } catch (...) {
        session_->check_open(); // a run that fails because the session closes was cancelled
        throw;
    }
}

/// A step that runs on threads of the environment.
class partitioned_run::started final : public posted_step {
public:
    started(std::shared_ptr<partitioned_run> of, std::vector<any_array> feeds, request r)
        : posted_step(std::move(r)), of_(std::move(of)), feeds_(std::move(feeds)) {}

private:
    bool begin(const step_context& context, std::function<void()> resume) override {
        step_.emplace(*of_->plan_, feeds_);
        step_->start(context, std::move(resume));
        return drive();
    }
    bool drive() override { return step_->drive(); }
    std::vector<any_array> fetched() override { return step_->fetched(); }
    void end() noexcept override {
        step_.reset();
        of_ = nullptr;
    }

    std::shared_ptr<partitioned_run> of_;
    const std::vector<any_array> feeds_;
    std::optional<partitioned_step> step_; // empty until the step has begun
};

RILL_COLD void partitioned_run::start(std::vector<any_array> feeds, const run_options& how, completion done) {
    session_->check_open();
    detail::make_shared<started>(shared_from_this(), std::move(feeds),
                                 local_session_state::request_of(session_, how, std::move(done)))
        ->post();
}

RILL_COLD std::string partitioned_run::memory_report() { return plan_->memory_report(); }
RILL_COLD std::vector<run_part> partitioned_run::parts() const {
    std::vector<run_part> all;
    for (const auto& p : plan_->parts()) all.push_back({p.made.of, file_name_of(p.made.device)});
    return all;
}

RILL_COLD void partitioned_run::close() noexcept { plan_->close(); }

}}} // namespace rill::RILL_ABI::detail
