// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <rill/core/any_array.hpp>
#include <rill/device/kernel.hpp>
#include <rill/graph/graph.hpp>
#include <rill/runtime/fetch_place.hpp>
#include <rill/runtime/options.hpp>

namespace rill { inline namespace RILL_ABI {

/// A device of a session.
struct session_device {
    std::string name;       // "/job:localhost/replica:0/task:0/device:CPU:0"
    std::string type;       // "cpu"
    std::size_t memory = 0; // bytes; 0: unknown
};

/// A part of a run, as a graph. The nodes of a cut run request the devices that they are placed on.
struct run_part {
    rill::graph graph;
    std::string device; // as the name of a file: "job:localhost_replica:0_task:0_device:cpu:0"
};

namespace detail {

// Forward declarations only: user programs do not compile the runtime.
class plan;
struct execution_state;

/// A step of a plan and, after run(), its fetched values. The values stay in the step's frame until this object is destroyed. The plan must
/// outlive it.
class step_result {
public:
    explicit step_result(plan& p) noexcept;
    /// Makes the result of a finished step from its values.
    explicit step_result(std::vector<any_array> values);
    step_result(step_result&&) noexcept;
    ~step_result();

    /// Acquires a frame for these feeds and borrows their memory.
    void begin(std::span<const any_array> feeds);
    void run(std::span<const fetch_place> places, const step_context& context);

    const tensor_type& type(std::size_t i) const;
    const void* data(std::size_t i) const;
    /// Returns true if the run has written value i into its fetch_place.
    bool placed(std::size_t i) const;

private:
    const any_array& value(std::size_t i) const;

    plan* plan_ = nullptr;
    std::unique_ptr<execution_state> step_;
};

/// A run with fixed fetches, targets and feeds, prepared by a session for any number of steps. Thread-safe.
class prepared_run {
public:
    virtual ~prepared_run() = default;
    /// Runs a step; the fetched values are borrowed from the result. `places` has one entry for each fetch, or none.
    virtual step_result run(std::span<const any_array> feeds, std::span<const fetch_place> places = {},
                            const run_options* how = nullptr) = 0;
    /// Starts a step and returns. The step keeps the feeds, which must own their elements. At its end it calls `done` once, on a thread of
    /// the environment, with the fetched values or an error. A trace in `how` must live until then.
    virtual void start(std::vector<any_array> feeds, const run_options& how, completion done) = 0;
    virtual std::string memory_report() = 0;
    /// Frees unused memory when the session closes.
    virtual void close() noexcept {}
    /// Returns the parts of a partitioned run; empty for other runs.
    virtual std::vector<run_part> parts() const { return {}; }
};

} // namespace detail

}} // namespace rill::RILL_ABI

#if !RILL_COMPILED
#include <rill/session/prepared_run.ipp>
#endif
