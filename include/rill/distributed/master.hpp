// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include <rill/distributed/peer_channels.hpp>
#include <rill/distributed/worker.hpp>
#include <rill/graph/graph.hpp>
#include <rill/passes/partition.hpp>
#include <rill/passes/place.hpp>
#include <rill/runtime/options.hpp>
#include <rill/runtime/plan/part_graph.hpp>
#include <rill/runtime/plan_key.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

class cluster_step;

/// The tasks of a prepared run, with what each computes of it.
struct cluster_run {
    struct part {
        std::string task;
        std::shared_ptr<channel> to;     // null: the task of the master
        std::uint64_t incarnation = 0;   // of the task that has registered the part
        std::vector<int> feeds, fetches; // numbers in the run
    };
    std::uint64_t number = 0;
    std::vector<part> parts;
    std::size_t fetches = 0;
};

/// A session of a master: it places and cuts the runs of a graph, registers the parts at their tasks, and runs their steps. It contacts the
/// tasks that its runs need, and no others. Thread-safe.
class cluster_session : public std::enable_shared_from_this<cluster_session> {
public:
    cluster_session(const graph& g, const session_options& options, std::shared_ptr<peer_channels> peers,
                    std::shared_ptr<worker> own);
    ~cluster_session();

    /// Prepares a run. Throws unavailable or deadline_exceeded, naming the task, if one does not answer.
    std::shared_ptr<const cluster_run> prepare(const plan_key& key);
    /// Starts a step of a run, and calls `done` at its end. The feeds own their elements.
    void start(const std::shared_ptr<const cluster_run>& run, std::vector<any_array> feeds, const run_options& how,
               completion done);
    /// Lets the tasks forget a run. Its steps that run go on.
    void drop(const cluster_run& run) noexcept;
    /// Fails all steps, also later ones, with `cancelled`.
    void close(const std::string& why) noexcept;
    bool closed() const;
    void check_open() const;

    environment& runs_in() const noexcept { return peers_->runs_in(); }
    /// Returns the devices of all tasks, those of the session's own task first.
    const device_set& devices() const noexcept { return where_->devices(); }
    /// Returns the parts into which a run is cut.
    std::vector<part_graph> parts(const plan_key& key);

private:
    friend class cluster_step;

    partition cut(const plan_key& key, const graph_state& in);

    void register_part(const std::shared_ptr<cluster_run>& run, std::size_t k, const partition& cut,
                       answer_function done);
    /// Throws `aborted` if a task has restarted since the session first used it.
    void check_incarnation(const std::string& task, std::uint64_t now);

    const graph graph_;
    const session_options options_;
    const std::shared_ptr<peer_channels> peers_;
    const std::shared_ptr<worker> own_;
    const session_number number_;
    std::shared_ptr<placement> where_;

    mutable std::mutex mutex_;
    std::string closed_why_; // empty: open
    std::uint64_t last_run_ = 0, last_step_ = 0;
    std::map<std::uint64_t, std::weak_ptr<cluster_step>> steps_;
    std::map<std::string, std::uint64_t> incarnations_; // of the tasks in use
};

/// The master of a task: it opens sessions.
class master {
public:
    master(std::shared_ptr<peer_channels> peers, std::shared_ptr<worker> own)
        : peers_(std::move(peers)), own_(std::move(own)) {}

    std::shared_ptr<cluster_session> open(const graph& g, const session_options& options) const {
        return std::make_shared<cluster_session>(g, options, peers_, own_);
    }
    /// Empties containers in all tasks of the cluster. Throws unavailable or deadline_exceeded.
    void reset(const std::vector<std::string>& containers, std::chrono::nanoseconds timeout) const;

private:
    const std::shared_ptr<peer_channels> peers_;
    const std::shared_ptr<worker> own_;
};

}}} // namespace rill::RILL_ABI::detail

#if !RILL_COMPILED
#include <rill/distributed/master.ipp>
#endif
