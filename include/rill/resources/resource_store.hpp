// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <string>

#include <rill/core/cancellation.hpp>
#include <rill/core/hash_map.hpp>
#include <rill/core/shared.hpp>
#include <rill/device/device.hpp>
#include <rill/device/kernel.hpp>
#include <rill/graph/node.hpp>
#include <rill/resources/step_threads.hpp>
#include <rill/resources/variable_state.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

/// The state of a session that outlives a run: variables, resources and threads. Resources include queues and the counters of random ops.
class resource_store : public std::enable_shared_from_this<resource_store> {
public:
    explicit resource_store(allocator& memory, step_threads threads = {})
        : memory_(memory), threads_(std::move(threads)) {}
    ~resource_store() { session_->cancel(); }

    const step_threads& threads() const noexcept { return threads_; }
    allocator& memory() const noexcept { return memory_; }

    /// Returns the state of a variable, made on first use in the memory of `space` (null: the host). Later calls ignore `space`. Throws
    /// unimplemented if an extent is unknown.
    std::shared_ptr<variable_state> variable(const node* n, const device_type* space = nullptr);
    /// Returns the state of a variable, or null before its first use.
    std::shared_ptr<variable_state> known_variable(const node* n);
    /// Binds a variable to a state that others may share.
    void share(const node* n, std::shared_ptr<variable_state> value);
    /// Drops all variables and resources; running steps keep those that they hold.
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
    allocator& memory_;
    step_threads threads_;
    /// Returns the function with which a kernel of this node finds the resource of its handle.
    decltype(kernel_request::find_resource) finder(const node* n);
    /// Returns the resource of a shared name from the containers of the process, made if missing.
    std::shared_ptr<resource> shared(const node* n, const resource_name& name, const std::string& described,
                                     const std::function<std::shared_ptr<resource>(const std::string&)>& make);

    std::mutex mutex_;
    hash_map<const node*, std::shared_ptr<variable_state>> variables_;
    hash_map<const node*, std::shared_ptr<resource>> resources_;
    std::shared_ptr<cancellation> session_ = std::make_shared<cancellation>();
    std::atomic<const char*> why_ended_{""};
};

}}} // namespace rill::RILL_ABI::detail

#if !RILL_COMPILED
#include <rill/resources/resource_store.ipp>
#endif
