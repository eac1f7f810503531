// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include <rill/runtime/options.hpp>
#include <rill/runtime/step_gate.hpp>
#include <rill/runtime/trace/step_recorder.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

/// A step that runs on threads of the environment. It holds no thread while it waits. It lives until it has called
/// `done`.
class posted_step : public std::enable_shared_from_this<posted_step> {
public:
    struct request {
        step_context context; // with the plan's session; the step keeps its token alive
        step_trace* trace = nullptr;
        completion done;
    };
    explicit posted_step(request r)
        : asked_(std::move(r)), token_(asked_.context.token ? asked_.context.token->shared_from_this() : nullptr),
          gate_(asked_.context.gate ? asked_.context.gate->shared_from_this() : nullptr) {}
    posted_step(const posted_step&) = delete;
    virtual ~posted_step() = default;

    /// Posts a task that begins or resumes the step. Throws if the step can't begin; without memory for a task it resumes within this call.
    void post();

private:
    /// Begins the step and runs it until it has ended (true) or waits (false). A waiting step later calls `resume`.
    virtual bool begin(const step_context& context, std::function<void()> resume) = 0;
    /// Resumes a step that has waited; returns as begin does.
    virtual bool drive() = 0;
    /// Returns the fetched values, after the end.
    virtual std::vector<any_array> fetched() = 0;
    /// Releases everything that the step holds, including `resume`, which keeps the step alive.
    virtual void end() noexcept = 0;

    void begin_or_resume() noexcept;

    request asked_;
    const std::shared_ptr<cancellation> token_;
    const std::shared_ptr<step_gate> gate_;
    std::optional<traced_step> traced_;
    bool has_begun_ = false;
};

}}} // namespace rill::RILL_ABI::detail

#if !RILL_COMPILED
#include <rill/runtime/executor/posted_step.ipp>
#endif
