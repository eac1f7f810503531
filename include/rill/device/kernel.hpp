// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <new>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include <rill/core/any_array.hpp>
#include <rill/core/environment.hpp>
#include <rill/core/resource.hpp>
#include <rill/core/thread_pool.hpp>

namespace rill { inline namespace RILL_ABI {

namespace detail {
struct trace_scope; // runtime/trace/step_recorder.hpp
}

/// The step that kernels run in: what they may ask besides their operands.
struct step_context {
    const std::atomic<bool>* cancel = nullptr; // set when the step is to end
    const std::atomic<bool>* token = nullptr;  // the same, by who asked for the run
    std::chrono::steady_clock::time_point deadline = std::chrono::steady_clock::time_point::max();
    void* stream = nullptr;                   // of a device that has any
    rill::environment* environment = nullptr; // null: the real one
    std::vector<std::function<void()>>* on_failure =
        nullptr;                          // of a step that may wait: what to do if it ends by an error
    detail::trace_scope* trace = nullptr; // of a step that is written down

    rill::environment& env() const { return environment ? *environment : rill::environment::real(); }
    /// Throws `cancelled` or `deadline_exceeded`: for kernels that take long or wait.
    void check() const;
};

namespace detail {

/// Of what runs outside of any step.
inline constexpr step_context no_step{};

} // namespace detail

/// Says that an asynchronous kernel is done: with its outputs, or with what went wrong. May be called from any thread, once; later, or
/// after the step has ended, it does nothing.
using completion = std::function<void(std::exception_ptr problem, std::vector<any_array> outputs)>;

/// How an op that waits goes on after its kernel has returned. One that need not wait gives its outputs at once, as other ops do.
class async_context {
public:
    /// The op is done when what this gives is called. `give_up` is called if the step ends before: it tells whether the op goes without
    /// having come to anything; where it does not, the completion was called, or is being called.
    virtual completion defer(std::function<bool()> give_up = {}) = 0;

protected:
    ~async_context() = default;
};

/// What a bound kernel sees when it runs: the slots of its step's frame.
struct kernel_args {
    void* const* slots;
    const std::int32_t* inputs;  // slot numbers
    const std::int32_t* outputs; // slot numbers
    const std::int32_t* scratch_slot;
    const step_context* step;
    any_array* sized = nullptr;    // the outputs of an op whose extents only its run decides: it puts them there
    async_context* wait = nullptr; // of an op that waits: it copies what it needs of its inputs
    any_array* given = nullptr;    // the inputs of an op that keeps them (takes_ownership) and stands alone

    template <class T> const T* in(int i) const { return static_cast<const T*>(slots[inputs[i]]); }
    /// The same as an array of the type it was bound to, borrowed.
    any_array array(const tensor_type& type, int i) const { return {type.type, type.shape, in<void>(i), nullptr}; }
    /// The same, but taken over where nobody else needs it.
    any_array taken(const tensor_type& type, int i) const {
        return given && given[i].is_sole() ? std::move(given[i]) : array(type, i);
    }
    template <class T> T* out(int i) const { return static_cast<T*>(slots[outputs[i]]); }
    /// A variable among the inputs, to be changed: the op names it in `writes`.
    template <class T> T* variable(int i) const { return static_cast<T*>(slots[inputs[i]]); }
    /// As much as was asked for when the kernel was bound.
    template <class T = void> T* scratch() const { return static_cast<T*>(slots[*scratch_slot]); }
};

/// Tells those who ask when a session ends.
class session_end {
public:
    ~session_end() { now(); }
    /// `then` is called once, when the session ends; at once if it has.
    void call(std::function<void()> then);
    void now() noexcept;

private:
    std::mutex mutex_;
    bool over_ = false;
    std::vector<std::function<void()>> all_;
};

/// What an op sees when its kernel is bound: everything that does not change from step to step.
struct kernel_request {
    std::span<const tensor_type> inputs; // complete shapes
    std::span<const tensor_type> outputs;
    std::span<const any_array* const> constants = {}; // of each input, where it is one; else null. Empty: not known
    std::size_t scratch_bytes = 0;                    // set by the op: scratch memory for each run
    thread_pool* pool = nullptr;                      // who helps; null: nobody. Lives as long as the kernel
    double microseconds = 0; // set by the op: what it takes on one thread, roughly; 0: as long as its memory traffic
    bool shared = false;     // set by the op: the pool helps
    double moved_bytes = -1; // set by the op: its memory traffic, where that is less than its inputs and outputs hold
    std::uint64_t seed = 0;  // of a random op: graph seed and node name, or the op's own

    /// It reads or writes no more of its other operands than these slices hold.
    void moves_only(const tensor_type& slices) { moved_bytes = 2 * static_cast<double>(slices.bytes()); }

    /// What the node's handle stands for, made if it is not there; `described` is what it would say of itself.
    std::function<std::shared_ptr<resource>(
        const resource_name& name, const std::string& described,
        const std::function<std::shared_ptr<resource>(const std::string& name, allocator& memory)>& make)>
        find_resource = {};
    /// Who runs it, as long as it does: what holds a lock lets it go when its session ends.
    std::shared_ptr<session_end> session = {};
};

/// A kernel bound to shapes: a closure called through one function pointer. Small closures are stored in place.
class kernel {
public:
    kernel() = default;

    template <class F>
        requires(!std::is_same_v<std::remove_cvref_t<F>, kernel> && std::is_invocable_v<const F&, const kernel_args&>)
    kernel(F f) {
        if constexpr (sizeof(F) <= capacity && alignof(F) <= alignof(std::max_align_t) &&
                      std::is_nothrow_move_constructible_v<F>) {
            new (storage_) F(std::move(f));
            run_ = [](const void* self, const kernel_args& args) { (*static_cast<const F*>(self))(args); };
            manage_ = [](void* self, void* to) noexcept {
                if (to) new (to) F(std::move(*static_cast<F*>(self)));
                static_cast<F*>(self)->~F();
            };
        } else {
            // the pointer is a small closure itself
            *this = kernel([owned = std::make_unique<F>(std::move(f))](const kernel_args& args) { (*owned)(args); });
        }
    }
    kernel(kernel&& other) noexcept { take(other); }
    kernel& operator=(kernel&& other) noexcept {
        if (this != &other) {
            reset();
            take(other);
        }
        return *this;
    }
    ~kernel() { reset(); }

    void operator()(const kernel_args& args) const { run_(storage_, args); }
    explicit operator bool() const noexcept { return run_ != nullptr; }

private:
    static constexpr std::size_t capacity = 96;

    void take(kernel& other) noexcept {
        if (other.manage_) other.manage_(other.storage_, storage_);
        run_ = std::exchange(other.run_, nullptr);
        manage_ = std::exchange(other.manage_, nullptr);
    }
    void reset() noexcept {
        if (manage_) manage_(storage_, nullptr);
        run_ = nullptr;
        manage_ = nullptr;
    }

    void (*run_)(const void*, const kernel_args&) = nullptr;
    void (*manage_)(void*, void*) noexcept = nullptr; // moves to the second address, or destroys
    alignas(std::max_align_t) std::byte storage_[capacity];
};

}} // namespace rill::RILL_ABI

#if !RILL_COMPILED
#include <rill/device/kernel.ipp>
#endif
