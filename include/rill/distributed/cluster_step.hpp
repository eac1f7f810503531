// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <vector>

#include <rill/core/any_array.hpp>
#include <rill/core/environment.hpp>
#include <rill/device/kernel.hpp>
#include <rill/distributed/wire_meta.hpp>
#include <rill/runtime/options.hpp>
#include <rill/runtime/trace/trace.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

class cluster_session;
struct cluster_run;

/// A running step in the tasks of its run.
class cluster_step : public std::enable_shared_from_this<cluster_step> {
public:
    cluster_step(std::shared_ptr<cluster_session> session, std::shared_ptr<const cluster_run> run, std::uint64_t number,
                 completion done);

    std::uint64_t number() const noexcept { return number_; }
    void start(const std::vector<any_array>& feeds, const run_options& how, std::uint64_t over_below);
    /// Ends the step with an error, in all tasks. The first error counts, unless it is `is_derived`: a part was cancelled because of an
    /// error that another part will report soon.
    void fail(const std::exception_ptr& problem, bool is_derived = false);

private:
    step_meta meta_of_part(std::size_t k, std::uint64_t over_below) const;
    void start_there(std::size_t k, const std::vector<any_array>& fed, std::uint64_t over_below,
                     environment::time_point deadline, environment::time_point began);
    void start_here(std::size_t k, std::vector<any_array> fed, std::uint64_t over_below,
                    environment::time_point deadline, environment::time_point began);
    void part_ended(std::size_t k, const std::exception_ptr& problem, std::vector<any_array> values);
    void watch_ended_parts();
    void ask_ended_parts();
    void abort_others(const std::exception_ptr& problem);
    void end_grace();
    void tell();
    void join_traces();

    /// The trace of a part. Its times are relative to `begin` on the master's clock.
    struct part_trace {
        step_trace all;
        std::int64_t begin = 0;
    };

    const std::shared_ptr<cluster_session> session_;
    const std::shared_ptr<const cluster_run> run_;
    const std::uint64_t number_;
    std::mutex mutex_;
    completion done_; // null: already called, and later values are dropped
    std::vector<char> has_ended_;
    std::size_t left_;
    std::vector<any_array> values_;
    std::vector<part_trace> traces_;
    step_trace* trace_ = nullptr; // the caller's
    std::exception_ptr problem_;
    bool is_derived_ = false;          // the error follows from another one
    environment::timer grace_period_; // for the answers of tasks after an error
    environment::timer watch_;        // of the tasks whose parts have ended
    bool is_watching_ = false;
    cancellation::registration cancels_;
};

}}} // namespace rill::RILL_ABI::detail

#if !RILL_COMPILED
#include <rill/distributed/cluster_step.ipp>
#endif
