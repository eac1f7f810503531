// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include <rill/runtime/executor/posted_step.hpp>
#include <rill/runtime/plan/plan.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

/// A step of a plan that runs on threads of the environment.
class step_run final : public posted_step {
public:
    /// Starts a step and returns. The feeds own their elements.
    static void start(std::shared_ptr<plan> of, std::vector<any_array> feeds, request r);

    step_run(std::shared_ptr<plan> of, std::vector<any_array> feeds, request r)
        : posted_step(std::move(r)), of_(std::move(of)), feeds_(std::move(feeds)) {}

private:
    RILL_INLINE bool begin(const step_context& context, std::function<void()> resume) override;
    RILL_INLINE bool drive() override;
    RILL_INLINE std::vector<any_array> fetched() override;
    RILL_INLINE void end() noexcept override;

    std::shared_ptr<plan> of_;
    const std::vector<any_array> feeds_;
    std::unique_ptr<execution_state> state_; // null until the step has begun
};

}}} // namespace rill::RILL_ABI::detail

#if !RILL_COMPILED
#include <rill/runtime/executor/step_run.ipp>
#endif
