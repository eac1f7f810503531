// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <string>

#include <rill/core/hash_map.hpp>
#include <rill/core/shared.hpp>
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

    const step_threads& threads() const noexcept { return threads_; }
    allocator& memory() const noexcept { return memory_; }

    /// Returns the state of a variable, made on first use in a memory (null: the host's). Throws unimplemented if an extent is unknown,
    /// invalid_argument if the variable lies in another memory: sessions that share it must place it alike.
    std::shared_ptr<variable_state> variable(const node* n, const memory_space* space = nullptr);
    /// Returns the state of a variable, or null before its first use.
    std::shared_ptr<variable_state> known_variable(const node* n);
    /// Binds a variable to a state that others may share.
    void share(const node* n, std::shared_ptr<variable_state> value);
    /// Drops all variables and resources; running steps keep those that they hold.
    void release() noexcept;
    /// Cancels the running steps; later ones throw `cancelled`, with the reason `why`.
    void end(const char* why) noexcept;
    const std::atomic<bool>& ended() const noexcept { return ended_; }
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
    [[noreturn]] static void refuse_memory(const node& n, const variable_state& is, const memory_space* wanted);
    /// Returns the resource of a shared name from the containers of the process, made if missing.
    std::shared_ptr<resource> shared(const node* n, const resource_name& name, const std::string& described,
                                     const std::function<std::shared_ptr<resource>(const std::string&)>& make);

    std::mutex mutex_;
    hash_map<const node*, std::shared_ptr<variable_state>> variables_;
    hash_map<const node*, std::shared_ptr<resource>> resources_;
    std::shared_ptr<session_end> session_ = detail::make_shared<session_end>();
    std::atomic<bool> ended_{false};
    std::atomic<const char*> why_ended_{""};
};

}}} // namespace rill::RILL_ABI::detail

#if !RILL_COMPILED
#include <rill/resources/resource_store.ipp>
#endif
