// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include <rill/core/vector.hpp>
#include <rill/runtime/options.hpp>
#include <rill/runtime/plan/part_graph.hpp>
#include <rill/runtime/plan/plan.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

/// A run in parts that exchange values, all in this process. Each part is a graph and its plan.
class partitioned_plan {
public:
    /// Partitions a run between its devices. Returns null if it runs on a single device.
    static std::unique_ptr<partitioned_plan> make(const plan_key& key, const session_options& options,
                                                  std::shared_ptr<resource_store> resources, placement& where);
    /// Compiles existing parts, for example loaded from files. `fetches`: the number of the run's results.
    partitioned_plan(std::vector<part_graph> parts, std::vector<cross_edge> edges, std::size_t fetches,
                     const session_options& options, std::shared_ptr<resource_store> resources);
    ~partitioned_plan();
    partitioned_plan(const partitioned_plan&) = delete;

    struct part_plan {
        part_graph made;
        std::unique_ptr<plan> run;
    };
    const vector<part_plan>& parts() const { return parts_; }
    const std::vector<cross_edge>& edges() const { return edges_; }
    std::size_t fetches() const { return fetches_; }
    std::chrono::nanoseconds progress_timeout() const { return progress_timeout_; }
    void close() noexcept;
    std::string memory_report() const;

private:
    const std::shared_ptr<resource_store> resources_;
    const std::chrono::nanoseconds progress_timeout_;
    vector<part_plan> parts_;
    const std::vector<cross_edge> edges_;
    const std::size_t fetches_;
};

}}} // namespace rill::RILL_ABI::detail

#if !RILL_COMPILED
#include <rill/runtime/plan/partitioned_plan.ipp>
#endif
