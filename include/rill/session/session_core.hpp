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
#include <rill/runtime/step_gate.hpp>
#include <rill/session/prepared_run.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

class container_set;

/// The untyped core of a session in this process or of a cluster. Callables share it.
class session_core {
public:
    /// Makes the core of a session whose background steps run on threads of `env`; null: the real environment.
    explicit session_core(const rill::graph& g, environment* env = nullptr)
        : graph_(g), background_(std::make_shared<step_gate>(env ? *env : environment::real())) {}
    virtual ~session_core() = default;

    const rill::graph& graph() const noexcept { return graph_; }
    /// Stores the source location where the session was opened, for errors.
    void set_opened_at(const std::source_location& where) noexcept { opened_at_ = where; }
    /// Returns the gate of the session's queue runners.
    step_gate& background() const noexcept { return *background_; }
    /// Returns the prepared run of a key, made on first use. Throws invalid_argument for nodes of another graph, and for duplicate feeds.
    /// `how`: options of the step that follows. Preparing in a cluster ends by them, and shortens their timeout by the time that it takes.
    virtual std::shared_ptr<prepared_run> find_run(const plan_key& key, run_options* how = nullptr) = 0;
    /// Closes the session: later runs throw `cancelled`. Memory is freed once no run uses it.
    virtual void close(const std::source_location& where = {}) noexcept = 0;
    virtual std::string memory_report() = 0;
    /// Returns true for the first call with `what` in this session.
    virtual bool first_time(const std::string& what) = 0;
    /// Returns the devices on which the session can place nodes.
    virtual std::vector<session_device> devices() const = 0;
    /// Returns the parts of a run, cut between devices. There is a single part if the whole run is on one device. The program must have
    /// called register_partitioned_runs.
    RILL_INLINE virtual std::vector<run_part> partition(const plan_key& key);
    /// Returns true if a variable has a value in this session.
    virtual bool has_value(const node* variable) const = 0;

    // The interface of savers. Cluster sessions read and restore variables by runs.
    /// Returns the value of a variable in host memory, shared with the variable if possible; an empty array if it has no value.
    virtual any_array variable_value(const node* variable) const;
    /// Sets the value of a variable, in place of its initializer or its current value.
    virtual void restore_variable(const node* variable, const any_array& value);
    /// Returns the state of queues, tables and random counters.
    virtual std::vector<saved_resource> saved_resources() const;
    virtual void restore_resource(const saved_resource& saved);
    /// Excludes other sessions from the tasks of these variables until let_others_in(), while this session restores them. Running steps of
    /// other sessions in these tasks end with `aborted`. So do later steps of runs that they have already prepared. Local sessions do
    /// nothing.
    virtual void keep_others_out(std::span<const node* const> /*variables*/) {}
    virtual void let_others_in() {}
    /// Throws invalid_argument if the value does not fit the existing variable. Changes nothing.
    virtual void check_variable(const node* variable, const any_array& value) const;
    /// Throws the errors of restore_resource, but changes nothing.
    virtual void check_resource(const saved_resource& saved) const;

    /// Returns the edge of a name: "layer/x:0", or "layer/x" for output 0. Throws not_found if the graph has none.
    endpoint edge(const std::string& name) const;
    /// Returns the edge of a fetched name. A node without outputs, such as "train", gives port -1.
    endpoint fetched(const std::string& name) const;

protected:
    /// Throws invalid_argument for nodes of another graph or of a body, and for duplicate feeds. Throws failed_precondition for null
    /// handles.
    void check_key(const plan_key& key) const;

private:
    /// Returns the node of a name and the port after the colon, -1 without a colon.
    endpoint named(const std::string& name) const;

    rill::graph graph_;
    std::source_location opened_at_ = {};
    std::shared_ptr<step_gate> background_;
};

/// Opens a session in this process, or on the server of options.target. `task`: the container set of a cluster task, which then holds all
/// state of the session. Null: a local session with its own set for private state.
std::shared_ptr<session_core> make_session_core(const rill::graph& g, const session_options& options,
                                                std::shared_ptr<container_set> task = nullptr);

/// The functions that open remote sessions and reset their containers. <rill/distributed.hpp> registers them.
struct remote_sessions {
    std::shared_ptr<session_core> (*open)(const graph& g, const session_options& options);
    void (*reset)(const std::string& target, const std::vector<std::string>& containers,
                  std::chrono::nanoseconds timeout, const credentials_option& security);
};
RILL_EXPORT inline std::atomic<const remote_sessions*> registered_remote_sessions{nullptr};

/// Returns the registered functions. Throws unimplemented, with the name of the header, if there are none.
const remote_sessions& remote_sessions_for(const std::string& target);

void reset_containers(const std::string& target, const std::vector<std::string>& containers,
                      std::chrono::nanoseconds timeout, const credentials_option& security = {});

}}} // namespace rill::RILL_ABI::detail

#if !RILL_COMPILED
#include <rill/session/session_core.ipp>

#include <rill/session/local_session_core.hpp> // defines make_session_core
#endif
