// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include <rill/runtime/options.hpp>
#include <rill/runtime/plan/plan.hpp>
#include <rill/runtime/trace/step_recorder.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

/// A step that runs on threads of the environment. While it waits it holds none. It lives until it has called `done`.
class step_run : public std::enable_shared_from_this<step_run> {
public:
    struct request {
        std::shared_ptr<plan> of;
        std::vector<any_array> feeds; // which own their elements
        step_context context;         // its session is that of the plan; the step keeps its token alive
        step_trace* trace = nullptr;
        completion done;
    };
    /// Starts a step and returns.
    static void start(request r);

    explicit step_run(request r)
        : asked_(std::move(r)), token_(asked_.context.token ? asked_.context.token->shared_from_this() : nullptr) {}

private:
    void post();
    void go_on() noexcept;
    bool drive();

    request asked_;
    const std::shared_ptr<cancellation> token_;
    std::optional<traced_step> traced_;
    std::unique_ptr<execution_state> state_; // null until the step has begun
};

}}} // namespace rill::RILL_ABI::detail

#if !RILL_COMPILED
#include <rill/runtime/executor/step_run.ipp>
#endif
