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

/// A session's threads, and its access to the state that outlives its runs. The state lies in container sets, by name: variables, queues,
/// counters of random ops. The store caches look-ups by node, so that bound steps look up no names.
class resource_store : public std::enable_shared_from_this<resource_store> {
public:
    /// Opens the container sets of a session. A session of a task uses the task's set for all state. A local session (`task` is null) has
    /// its own set in `memory` for private state. It uses the set of the process for named containers and shared names. `replica`: see
    /// session_options.
    explicit resource_store(allocator& memory, step_threads threads = {}, std::shared_ptr<container_set> task = nullptr,
                            int replica = 0);
    ~resource_store() { session_->cancel(); }

    const step_threads& threads() const noexcept { return threads_; }
    allocator& memory() const noexcept { return memory_; }
    /// Returns the incarnation of the task; handles of other tasks are refused.
    std::uint32_t incarnation() const noexcept;

    /// Returns the state of a variable, made on first use in a memory (null: the host's). Throws unimplemented if an extent is unknown.
    /// Throws invalid_argument if the variable of that name has another type or lies in another memory: sessions that share it must place
    /// it alike.
    std::shared_ptr<variable_state> variable(const node* n, const memory_space* space = nullptr);
    /// Returns the state of a variable, or null if there is none of its name and type.
    std::shared_ptr<variable_state> known_variable(const node* n);
    /// Returns true if a variable has a value, or will get one when a plan first binds it.
    bool has_value(const node* n);
    /// Returns the value of a variable in host memory; empty if it has no value. Normally it is shared with the variable, which is copied
    /// before its next write. Variables that are updated in place or lie in another memory are copied at once.
    any_array variable_value(const node* n);
    /// Sets the value of a variable, at once or when a plan first binds it. Throws invalid_argument if it has another type.
    void restore_variable(const node* n, const any_array& value);
    /// Returns the saved state of all resources that this session has used, except variables.
    std::vector<saved_resource> saved_resources();
    void restore_resource(const saved_resource& saved);
    /// Throws the errors of restore_variable or restore_resource, but changes nothing.
    void check_variable(const node* n, const any_array& value);
    void check_resource(const saved_resource& saved);

    /// Binds an unused variable to a state that may be shared.
    void share(const node* n, const std::shared_ptr<variable_state>& value);
    /// Removes the cached nodes of a graph that is about to end. The state stays in the container sets.
    void forget(const graph_state& g) noexcept;
    /// Releases all variables and resources. State that no other session can find is destroyed; running steps keep the state that they
    /// hold.
    void release() noexcept;
    /// Cancels the running steps; later ones throw `cancelled`, with the reason `why`.
    void end(const char* why) noexcept;
    /// Returns the cancellation that signals the end of the session.
    cancellation& session() const noexcept { return *session_; }
    bool ended() const noexcept { return session_->is_cancelled(); }
    const char* why_ended() const noexcept { return why_ended_; }

    /// Sets the services that the kernel of op `o` at node `n` may request while it is bound. The store and the node outlive the kernel's
    /// binding.
    void answer(kernel_request& request, const op& o, const node& n);
    /// Returns the bytes of all variables that have a value.
    std::size_t variable_bytes();

private:
    using resource_maker = std::function<std::shared_ptr<resource>(const std::string& name)>;

    /// A cached variable. `missed_at`: the number of resources made when the last look-up of its name failed.
    struct known {
        std::shared_ptr<variable_state> state = nullptr;
        bool is_bound = false; // set by `variable`
        std::uint64_t missed_at = ~std::uint64_t(0);
    };

    /// Returns the set that holds the state of this name.
    container_set& set_of(const resource_name& place) const;
    container_set& set_of(const saved_resource& saved) const;
    /// Converts a value to the saved state of a variable. Throws invalid_argument if it has another type.
    saved_resource saved_variable(const node* n, const any_array& value) const;
    /// Returns the resource of a node, made by `make` if its set has none. Errors contain the node's name.
    std::shared_ptr<resource> find(const node* n, const resource_name& place, const std::string& described,
                                   const resource_maker& make);
    std::shared_ptr<variable_state> find_variable(const node* n, const memory_space* space);
    /// Returns the function with which a kernel of this node finds the resource of a handle.
    decltype(kernel_request::find_resource) finder(const node* n);
    [[noreturn]] static void refuse_memory(const node& n, const variable_state& is, const memory_space* wanted);

    allocator& memory_;
    step_threads threads_;
    const bool of_task_; // own_ belongs to the task
    const std::shared_ptr<container_set> own_;
    const int replica_;
    std::mutex mutex_;
    hash_map<const node*, known> variables_;
    /// A cached resource and its location.
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
