// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <rill/session/local_session_state.hpp>
#include <rill/session/prepared_run.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

/// A run of a session whose placer learns. It records node times from traced steps, and traces one step in 64 itself. Sessions that do not
/// learn use plain runs.
class measured_run final : public prepared_run, public std::enable_shared_from_this<measured_run> {
public:
    measured_run(std::shared_ptr<prepared_run> of, rill::graph g, std::shared_ptr<local_session_state> session);

    RILL_INLINE step_result run(std::span<const any_array> feeds, std::span<const fetch_place> places,
                                const run_options* how) override;
    RILL_INLINE void start(std::vector<any_array> feeds, const run_options& how, completion done) override;
    RILL_INLINE std::string memory_report() override;
    RILL_INLINE void close() noexcept override;
    RILL_INLINE std::vector<run_part> parts() const override;

private:
    static constexpr std::uint64_t period = 64;

    /// Counts a step. Returns true if the step should be traced; never for the first step, which binds kernels.
    bool is_next_traced() noexcept { return steps_.fetch_add(1, std::memory_order_relaxed) % period == period - 1; }
    void record(const step_trace& step) noexcept;

    const std::shared_ptr<prepared_run> of_;
    const rill::graph graph_;
    const std::shared_ptr<local_session_state> session_;
    std::atomic<std::uint64_t> steps_{0};
};

}}} // namespace rill::RILL_ABI::detail

#if !RILL_COMPILED
#include <rill/session/measured_run.ipp>
#endif
