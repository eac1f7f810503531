// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include <rill/core/vector.hpp>
#include <rill/runtime/executor/completion_queue.hpp>
#include <rill/runtime/executor/local_rendezvous.hpp>
#include <rill/runtime/executor/nested_run.hpp>
#include <rill/runtime/plan/partitioned_plan.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

/// A step of a partitioned run. The runs of all parts share one completion queue, so only one thread at a time runs them.
class partitioned_step final : parent_run {
public:
    /// Prepares a step. The plan and the elements of the feeds must outlive it.
    partitioned_step(const partitioned_plan& p, std::span<const any_array> feeds);

    /// Begins the step; see step_executor::start.
    void start(const step_context& context, std::function<void()> resume = {});
    /// Runs the parts until all have ended (true), or all wait (false). Throws the step's error; the step has then ended.
    bool drive();
    /// Returns the fetched values, after the end.
    std::vector<any_array> fetched() const;
    const local_rendezvous& exchange() const { return exchange_; }

private:
    RILL_INLINE void nested_done(std::size_t part, std::vector<any_array> results) override;
    [[noreturn]] RILL_INLINE void rethrow_nested(std::size_t part) const override;

    const partitioned_plan& plan_;
    local_rendezvous exchange_;
    std::vector<std::vector<any_array>> results_; // per part
    std::size_t left_;
    std::optional<step_state> step_;
    vector<std::unique_ptr<nested_run>> runs_;
};

}}} // namespace rill::RILL_ABI::detail

#if !RILL_COMPILED
#include <rill/runtime/executor/partitioned_step.ipp>
#endif
