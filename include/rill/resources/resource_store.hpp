// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>

#include <rill/core/cancellation.hpp>
#include <rill/core/hash_map.hpp>
#include <rill/core/resource.hpp>
#include <rill/core/shared.hpp>
#include <rill/device/kernel.hpp>
#include <rill/graph/node.hpp>
#include <rill/resources/step_threads.hpp>
#include <rill/resources/variable_state.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

class container_set;

/// A session's access to the state that outlives its runs, and its threads. The state lies in container sets, by name: variables, queues,
/// counters of random ops. The store remembers by node what it has found, so that steps that are bound look up no names.
class resource_store : public std::enable_shared_from_this<resource_store> {
public:
    /// Opens the container sets of a session. A session of a task has the task's set for all state. A local session (`task` is null) has a
    /// set of its own in `memory`, for private state. Named containers and shared names it finds in the set of the process. `replica`: see
    /// session_options.
    explicit resource_store(allocator& memory, step_threads threads = {}, std::shared_ptr<container_set> task = nullptr,
                            int replica = 0);
    ~resource_store() { session_->cancel(); }

    const step_threads& threads() const noexcept { return threads_; }
    allocator& memory() const noexcept { return memory_; }
    /// Returns the incarnation of the task: handles of others are refused.
    std::uint32_t incarnation() const noexcept;

    /// Returns the state of a variable, made on first use in a memory (null: the host's). Throws unimplemented if an extent is unknown.
    /// Throws invalid_argument if the variable of that name has another type or lies in another memory: sessions that share it must place
    /// it alike.
    std::shared_ptr<variable_state> variable(const node* n, const memory_space* space = nullptr);
    /// Returns the state of a variable, or null if there is none of its name and type.
    std::shared_ptr<variable_state> known_variable(const node* n);
    /// Returns true if a variable has a value, or will have one when a plan first binds it.
    bool has_value(const node* n);
    /// Returns the value of a variable, in the host's memory; empty if it has none. It is shared with the variable, which is copied before
    /// its next write, unless it is updated in place or lies in another memory.
    any_array variable_value(const node* n);
    /// Gives a variable a value, at once or when a plan first binds it. Throws invalid_argument if it is of another type.
    void restore_variable(const node* n, const any_array& value);
    /// Returns the saved state of all resources that this session has used, but variables.
    std::vector<saved_resource> saved_resources();
    void restore_resource(const saved_resource& saved);
    /// Throw what restore_variable and restore_resource would throw, and change nothing.
    void check_variable(const node* n, const any_array& value);
    void check_resource(const saved_resource& saved);

    /// Gives a variable that is not in use yet a state that others may share.
    void share(const node* n, const std::shared_ptr<variable_state>& value);
    /// Forgets what it knows of the nodes of a graph that is about to end. The state stays in the container sets.
    void forget(const graph_state& g) noexcept;
    /// Lets go of all variables and resources. Those that no other session finds are dropped; running steps keep those that they hold.
    void release() noexcept;
    /// Cancels the running steps; later ones throw `cancelled`, with the reason `why`.
    void end(const char* why) noexcept;
    /// Returns the end of the session, for those that wait for it.
    cancellation& session() const noexcept { return *session_; }
    bool ended() const noexcept { return session_->is_cancelled(); }
    const char* why_ended() const noexcept { return why_ended_; }

    /// Fills in the services that the kernel of op `o` at node `n` may request while it is bound. The store and the node outlive the
    /// kernel's binding.
    void answer(kernel_request& request, const op& o, const node& n);
    /// Returns the bytes of all variables that have a value.
    std::size_t variable_bytes();

private:
    using resource_maker = std::function<std::shared_ptr<resource>(const std::string& name)>;

    /// A variable by its node. `missed_at`: the resources of the sets when its name was last looked up in vain.
    struct known {
        std::shared_ptr<variable_state> state = nullptr;
        bool is_bound = false; // `variable` has found or made it
        std::uint64_t missed_at = ~std::uint64_t(0);
    };

    /// Returns the set that holds the state of such a name.
    container_set& set_of(const resource_name& place) const;
    container_set& set_of(const saved_resource& saved) const;
    /// Returns a value as the saved state of a variable. Throws invalid_argument if it is of another type.
    saved_resource saved_variable(const node* n, const any_array& value) const;
    /// Returns the resource of a node, made by `make` if its set has none. Errors name the node.
    std::shared_ptr<resource> find(const node* n, const resource_name& place, const std::string& described,
                                   const resource_maker& make);
    std::shared_ptr<variable_state> find_variable(const node* n, const memory_space* space);
    /// Returns the function with which a kernel of this node finds the resource of its handle.
    decltype(kernel_request::find_resource) finder(const node* n);
    [[noreturn]] static void refuse_memory(const node& n, const variable_state& is, const memory_space* wanted);

    allocator& memory_;
    step_threads threads_;
    const bool of_task_; // own_ is the task's
    const std::shared_ptr<container_set> own_;
    const int replica_;
    std::mutex mutex_;
    hash_map<const node*, known> variables_;
    /// A resource by its node, and where it lies.
    struct found_resource {
        std::shared_ptr<resource> what = nullptr;
        resource_name place = {};
    };
    hash_map<const node*, found_resource> resources_;
    std::shared_ptr<cancellation> session_ = std::make_shared<cancellation>();
    std::atomic<const char*> why_ended_{""};
};

}}} // namespace rill::RILL_ABI::detail

#if !RILL_COMPILED
#include <rill/resources/resource_store.ipp>
#endif
