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

/// A variable's value. Steps that read it hold the version they began with; a write changes the newest version in place
/// when nobody else holds it, and a copy of it otherwise, so every reader sees one whole version. Of one whose updates are in place there
/// is one version only: who writes takes no lock then, and who reads meanwhile sees some elements before and some after.
class variable_state : public resource {
public:
    variable_state(const tensor_type& type, allocator& memory, const device_type* space, bool in_place = false)
        : type_(type), memory_(memory), space_(space), in_place_(in_place) {}

    const tensor_type& type() const noexcept { return type_; }
    std::string described() const override { return described(type_, in_place_); }
    static std::string described(const tensor_type& type, bool in_place) {
        return "variable " + to_string(type) + (in_place ? ", updated in place" : "");
    }

    /// Gives it a first value, before anybody else has it.
    void begin_with(const any_array& value);
    /// The current version, or null if none has been assigned.
    std::shared_ptr<element_block> read() const;

    /// Whether a version that is held is still the current one. Takes no lock.
    bool is_newest(const std::shared_ptr<element_block>& held) const noexcept {
        return held && held.get() == newest_.load(std::memory_order_acquire);
    }

    /// Holds the variable for writing; `mine` is the version the step holds (its own reference does not count).
    class writer {
    public:
        writer(variable_state& v, std::shared_ptr<element_block>& mine, bool whole);
        bool ready() const noexcept { return ready_; }
        void* data() const noexcept { return mine_->data(); }
        /// The new version becomes visible. Without it, nothing was changed (or the op failed half way in place).
        void commit() noexcept {
            if (!lock_ || v_.value_ == mine_) return; // changed in place: no count of references is touched
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
    const device_type* space_; // where the memory is; null: the host's
    const bool in_place_;
    mutable std::mutex mutex_;
    std::shared_ptr<element_block> value_;
    mutable bool lent_ = false;                         // read since it was last written in place
    std::atomic<const element_block*> newest_{nullptr}; // value_, to compare with
};

/// Who runs the steps of a session.
struct step_threads {
    std::shared_ptr<thread_pool> pool; // null: the caller's thread runs everything
    bool within_ops = false;           // the pool helps with the work of one op
    int lanes = 1;                     // branches that run at once

    thread_pool* for_ops() const noexcept { return within_ops ? pool.get() : nullptr; }
};

/// What outlives a run: variables, queues and the like, counters of random ops among them, and the threads that help.
class resource_store : public std::enable_shared_from_this<resource_store> {
public:
    explicit resource_store(allocator& memory, step_threads threads = {})
        : memory_(memory), threads_(std::move(threads)) {}

    const step_threads& threads() const noexcept { return threads_; }
    allocator& memory() const noexcept { return memory_; }

    /// Its value is kept in the memory of a device (null: the host's), the one it was first asked for with.
    std::shared_ptr<variable_state> variable(const node* n, const device_type* space = nullptr);
    /// Null if nobody asked for it yet.
    std::shared_ptr<variable_state> known_variable(const node* n);
    /// The variable has this value, which others may have too.
    void share(const node* n, std::shared_ptr<variable_state> value);
    /// Forgets everything: steps under way keep what they hold.
    void release() noexcept;
    /// Steps under way end, later ones throw `cancelled`.
    void end(const char* why) noexcept;
    const std::atomic<bool>& ended() const noexcept { return ended_; }
    const char* why_ended() const noexcept { return why_ended_; }

    /// What the kernel of an op, of that node, may ask of its session, while it is bound. The store and the node outlive that.
    void answer(kernel_request& request, const op& o, const node& n);
    /// What the variables that have a value take.
    std::size_t variable_bytes();

private:
    allocator& memory_;
    step_threads threads_;
    /// How a node's kernel finds the resource that its handle stands for.
    decltype(kernel_request::find_resource) finder(const node* n);
    /// What a shared name stands for, in the process's containers.
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
