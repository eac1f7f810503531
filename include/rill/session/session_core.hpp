// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <source_location>
#include <span>
#include <string>
#include <vector>

#include <rill/core/resource.hpp>
#include <rill/graph/graph.hpp>
#include <rill/runtime/options.hpp>
#include <rill/runtime/plan_key.hpp>
#include <rill/session/prepared_run.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

class container_set;

/// The untyped core of a session, shared with its callables: of this process, or of a cluster.
class session_core {
public:
    explicit session_core(const rill::graph& g) : graph_(g) {}
    virtual ~session_core() = default;

    const rill::graph& graph() const noexcept { return graph_; }
    /// Keeps where the session was opened, for errors.
    void set_opened_at(const std::source_location& where) noexcept { opened_at_ = where; }
    /// Returns the prepared run of a key, made on first use. Throws invalid_argument for nodes of another graph, and for a feed given twice.
    virtual std::shared_ptr<prepared_run> find_run(const plan_key& key) = 0;
    /// Closes the session: later runs throw `cancelled`. Memory is freed once no run uses it.
    virtual void close(const std::source_location& where = {}) noexcept = 0;
    virtual std::string memory_report() = 0;
    /// Returns true for the first call with `what` in this session.
    virtual bool first_time(const std::string& what) = 0;
    /// Returns the devices on which the session can place nodes.
    virtual std::vector<session_device> devices() const = 0;
    /// Returns the parts of a run, cut between devices; one that is the whole run if all of it runs on one device. The program must have
    /// called register_partitioned_runs.
    RILL_INLINE virtual std::vector<run_part> partition(const plan_key& key);
    /// Returns true if a variable has a value in this session.
    virtual bool has_value(const node* variable) const = 0;

    // The interface of savers. A session of a cluster reads and restores variables by runs.
    /// Returns the value of a variable in the host's memory, shared with the variable where that is possible; empty if it has none.
    virtual any_array variable_value(const node* variable) const;
    /// Gives a variable a value, in place of its initializer or of what it holds.
    virtual void restore_variable(const node* variable, const any_array& value);
    /// Returns the state of queues, tables and random counters.
    virtual std::vector<saved_resource> saved_resources() const;
    virtual void restore_resource(const saved_resource& saved);
    /// Lets no other session of a cluster run steps in the tasks of variables, until let_others_in(): this one gives them their values. Steps of
    /// others that run there end with `aborted`, and so do later ones of what they have prepared before. A local session does nothing.
    virtual void keep_others_out(std::span<const node* const> /*variables*/) {}
    virtual void let_others_in() {}
    /// Throws invalid_argument if the value does not fit the variable that is there, and changes nothing.
    virtual void check_variable(const node* variable, const any_array& value) const;
    /// Throws what restore_resource would throw, and changes nothing.
    virtual void check_resource(const saved_resource& saved) const;

    /// Returns the edge of a name: "layer/x:0", or "layer/x" for output 0. Throws not_found if the graph has none.
    endpoint edge(const std::string& name) const;
    /// Returns the edge of a fetched name. A node without outputs, such as "train", gives port -1.
    endpoint fetched(const std::string& name) const;

protected:
    /// Throws invalid_argument for nodes of another graph or of a body, and for a feed given twice; failed_precondition for null handles.
    void check_key(const plan_key& key) const;

private:
    /// Returns the node of a name and the port after the colon, -1 without a colon.
    endpoint named(const std::string& name) const;

    rill::graph graph_;
    std::source_location opened_at_ = {};
};

/// Opens a session: in this process, or on the server of options.target. `task`: the container set of a cluster's task, which then holds all state of the session. Null: a local
/// session, with a set of its own for private state.
std::shared_ptr<session_core> make_session_core(const rill::graph& g, const session_options& options,
                                                std::shared_ptr<container_set> task = nullptr);

/// How sessions of servers are opened and their containers reset. <rill/distributed.hpp> registers it.
struct remote_sessions {
    std::shared_ptr<session_core> (*open)(const graph& g, const session_options& options);
    void (*reset)(const std::string& target, const std::vector<std::string>& containers,
                  std::chrono::nanoseconds timeout, const credentials_option& security);
};
RILL_EXPORT inline std::atomic<const remote_sessions*> registered_remote_sessions{nullptr};

/// Throws unimplemented, naming the header, if none are registered.
const remote_sessions& remote_sessions_for(const std::string& target);

void reset_containers(const std::string& target, const std::vector<std::string>& containers,
                      std::chrono::nanoseconds timeout, const credentials_option& security = {});

}}} // namespace rill::RILL_ABI::detail

#if !RILL_COMPILED
#include <rill/session/session_core.ipp>

#include <rill/session/local_session_core.hpp> // defines make_session_core
#endif
