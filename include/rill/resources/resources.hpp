// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <memory>
#include <mutex>

#include <rill/core/any_array.hpp>
#include <rill/core/hash_map.hpp>
#include <rill/core/shared.hpp>
#include <rill/core/thread_pool.hpp>
#include <rill/device/device.hpp>
#include <rill/device/kernel.hpp>
#include <rill/graph/node.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

/// The value of a variable. A step that reads it holds one version. A write changes the newest version in place if nobody else holds it,
/// otherwise a copy; each reader sees one whole version. A variable with in-place updates has one version only. Its writers take no lock: a
/// concurrent reader may see some elements before and some after a write.
class variable_state : public resource {
public:
    variable_state(const tensor_type& type, allocator& memory, const device_type* space, bool in_place = false)
        : type_(type), memory_(memory), space_(space), in_place_(in_place) {}

    const tensor_type& type() const noexcept { return type_; }
    std::string described() const override { return described(type_, in_place_); }
    static std::string described(const tensor_type& type, bool in_place) {
        return "variable " + to_string(type) + (in_place ? ", updated in place" : "");
    }

    /// Sets the first value, before any other thread can reach the variable.
    void begin_with(const any_array& value);
    /// Returns the current version, or null if none has been assigned.
    std::shared_ptr<element_block> read() const;

    /// Returns true if `held` is still the current version. Takes no lock.
    bool is_newest(const std::shared_ptr<element_block>& held) const noexcept {
        return held && held.get() == newest_.load(std::memory_order_acquire);
    }

    /// A write access to the variable. `mine` is the version that the step holds; its own reference does not count. `whole`: the write
    /// replaces all elements, so the old ones are not copied.
    class writer {
    public:
        writer(variable_state& v, std::shared_ptr<element_block>& mine, bool whole);
        bool ready() const noexcept { return ready_; }
        void* data() const noexcept { return mine_->data(); }
        /// Makes the new version visible. Without a commit the old version stays, unless the op failed half way in place.
        void commit() noexcept {
            if (!lock_ || v_.value_ == mine_) return; // changed in place: avoids the atomic reference count
            v_.value_ = mine_;
            v_.newest_.store(mine_.get(), std::memory_order_release);
        }

    private:
        variable_state& v_;
        std::shared_ptr<element_block>& mine_;
        std::unique_lock<std::mutex> lock_;
        bool ready_ = false;
    };

private:
    tensor_type type_;
    allocator& memory_;
    const device_type* space_; // the device that holds the memory; null: the host
    const bool in_place_;
    mutable std::mutex mutex_;
    std::shared_ptr<element_block> value_;
    mutable bool lent_ = false;                         // read since the last write in place
    std::atomic<const element_block*> newest_{nullptr}; // value_.get(), compared without the lock
};

/// The threads that run the steps of a session.
struct step_threads {
    std::shared_ptr<thread_pool> pool; // null: the caller's thread runs everything
    bool within_ops = false;           // the pool also splits the work of one op
    int lanes = 1;                     // lanes that run at once

    thread_pool* for_ops() const noexcept { return within_ops ? pool.get() : nullptr; }
};

/// The state of a session that outlives a run: variables, resources and threads. Resources include queues and the counters of random ops.
class resource_store : public std::enable_shared_from_this<resource_store> {
public:
    explicit resource_store(allocator& memory, step_threads threads = {})
        : memory_(memory), threads_(std::move(threads)) {}

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
#include <rill/resources/resources.ipp>
#endif
