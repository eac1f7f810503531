// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include <rill/core/hash_map.hpp>
#include <rill/distributed/peer_channels.hpp>
#include <rill/distributed/worker.hpp>
#include <rill/graph/graph.hpp>
#include <rill/passes/partition.hpp>
#include <rill/passes/place.hpp>
#include <rill/runtime/options.hpp>
#include <rill/runtime/plan/part_graph.hpp>
#include <rill/runtime/plan_key.hpp>
#include <rill/session/prepared_run.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

class cluster_step;

/// The tasks of a prepared run, with the part of each.
struct cluster_run {
    struct part {
        std::string task;
        std::shared_ptr<channel> to;     // null: the master's own task
        std::uint64_t incarnation = 0;   // of the task when it registered the part
        std::vector<int> feeds, fetches; // indices in the run
        std::map<std::string, std::size_t> sends_to = {}; // parts that receive values, by task
    };
    std::uint64_t number = 0;
    std::vector<part> parts;
    std::size_t feeds = 0, fetches = 0;
    environment::time_point prepared_by = environment::time_point::max(); // the deadline for its preparation
};

/// A session of a master. It places and partitions runs, registers the parts at their tasks, and runs their steps. It contacts only the
/// tasks that its runs need. Thread-safe.
class cluster_session : public std::enable_shared_from_this<cluster_session> {
public:
    cluster_session(const session_options& options, std::shared_ptr<peer_channels> peers, std::shared_ptr<worker> own);
    ~cluster_session();

    using prepared = std::function<void(std::exception_ptr problem, std::shared_ptr<const cluster_run> run)>;
    /// Prepares a run of a graph, and calls `done` with it. If a task does not answer by the deadline, or by that of control calls, `done`
    /// gets unavailable or deadline_exceeded with its name. The graphs of a session's runs must agree in their names.
    void prepare(const graph& g, const plan_key& key, prepared done,
                 environment::time_point deadline = environment::time_point::max());
    /// Starts a step of a run, and calls `done` at its end. The feeds own their elements. Throws invalid_argument if the number of feeds
    /// differs from that of the run.
    void start(const std::shared_ptr<const cluster_run>& run, std::vector<any_array> feeds, const run_options& how,
               completion done);
    /// Lets the tasks forget a run. Running steps of it continue.
    void drop(const cluster_run& run) noexcept;
    /// Ends a step with the error of a value that could not be sent; does nothing if the step is over.
    void fail_step(std::uint64_t number, const std::exception_ptr& problem);
    /// Fails all steps, including later ones, with `cancelled`.
    void close(std::string_view why) noexcept;
    bool closed() const;
    void check_open() const;

    environment& runs_in() const noexcept { return peers_->runs_in(); }
    const session_number& number() const noexcept { return number_; }
    /// Returns the tasks that the session has used, with their incarnations.
    std::map<std::string, std::uint64_t> tasks() const;
    /// Returns the devices of all tasks, those of the session's own task first.
    std::vector<session_device> devices() const;
    /// Returns the parts into which a run is partitioned.
    std::vector<part_graph> parts(const graph& g, const plan_key& key);

private:
    friend class cluster_step;

    /// A run that is partitioned between its tasks, with the placement that holds their devices.
    struct cut_run {
        std::shared_ptr<placement> where;
        placed_parts parts;
    };
    cut_run cut(const graph& g, const plan_key& key);
    std::shared_ptr<placement> place_as_before(const graph& g);
    void note_devices(const placed_parts& cut);

    void register_part(const std::shared_ptr<cluster_run>& run, std::size_t k, const placed_parts& cut, const graph& g,
                       answer_function done);
    /// Throws `aborted` if a task has restarted since the session first used it.
    void check_incarnation(const std::string& task, std::uint64_t now);

    const session_options options_;
    const std::shared_ptr<peer_channels> peers_;
    const std::shared_ptr<worker> own_;
    const session_number number_;

    mutable std::mutex mutex_;
    std::string closed_why_; // empty: open
    std::uint64_t last_run_ = 0, last_step_ = 0;
    std::map<std::uint64_t, std::weak_ptr<cluster_step>> steps_;
    std::map<std::string, std::uint64_t> incarnations_; // of the used tasks
    hash_map<std::string, std::string> devices_;        // of the nodes of all runs, by name
    hash_set<std::string> logged_;                      // names of nodes whose device is in the log
};

/// Returns the tasks of a cluster, the own one first: nodes that request no task run there.
std::vector<device_name> tasks_seen_by(const peer_channels& peers);

}}} // namespace rill::RILL_ABI::detail

#if !RILL_COMPILED
#include <rill/distributed/cluster_session.ipp>
#endif
