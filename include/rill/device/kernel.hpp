// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <new>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include <rill/core/any_array.hpp>
#include <rill/core/cancellation.hpp>
#include <rill/core/environment.hpp>
#include <rill/core/hash.hpp>
#include <rill/core/resource.hpp>
#include <rill/device/execution_context.hpp>

namespace rill { inline namespace RILL_ABI {

namespace detail {
class step_gate;    // runtime/step_gate.hpp
struct trace_scope; // runtime/trace/step_recorder.hpp
}

class file_access; // core/file_access.hpp
class rendezvous;  // device/rendezvous.hpp

/// The context of the step that a kernel runs in.
struct step_context {
    cancellation* session = nullptr; // the end of the session
    cancellation* token = nullptr;   // the cancellation token of the run's caller
    std::chrono::steady_clock::time_point deadline = std::chrono::steady_clock::time_point::max();
    rill::environment* environment = nullptr; // null: the real environment
    std::vector<std::function<void()>>* on_failure =
        nullptr;                          // undo functions that run if the step fails; set for steps with async ops
    detail::trace_scope* trace = nullptr; // set for traced steps
    std::uint32_t incarnation = 0;        // the task whose handles the step may use; 0: any task of this process
    rendezvous* exchange = nullptr;       // exchange between the parts of the step; null: it has no parts
    const file_access* files = nullptr;   // the files that the step may open; null: all
    detail::step_gate* gate = nullptr;    // of a queue runner's step, which a save waits for

    rill::environment& env() const { return environment ? *environment : rill::environment::real(); }
    /// Throws `cancelled` or `deadline_exceeded`. Kernels that run for long or wait should call it.
    void check() const;
};

namespace detail {

/// The context of kernels that run outside a step.
inline constexpr step_context no_step{};

} // namespace detail

/// A callback that completes an asynchronous kernel or a started step, with its outputs or an error. Any thread may call a kernel's
/// completion, once. Further calls, and calls after the step has ended, do nothing.
using completion = std::function<void(std::exception_ptr problem, std::vector<any_array> outputs)>;

/// The interface for an op that completes after its kernel has returned. A kernel that need not wait writes its outputs directly.
class async_context {
public:
    /// Returns a callback that completes the op. If the step ends first, it calls `give_up`.
    /// `give_up` returns true if it withdrew the op, without effect. It returns false if the callback has run or is running.
    virtual completion defer(std::function<bool()> give_up = {}) = 0;
    /// Sets the description of the event that the op waits for if it is deferred next. `awaited` may be called until the op has completed.
    /// If a step waits too long, the message contains this text after the name of the node.
    virtual void describe(std::function<std::string()> /*awaited*/) {}
    /// Returns the context of the step that waits; null outside a step.
    virtual const step_context* step() const { return nullptr; }

protected:
    ~async_context() = default;
};

/// The arguments of one run of a bound kernel: the slots of its step's frame. A variable that the op writes has two slots. The one
/// among the inputs has the address of its old value, the next one that of its new value.
struct kernel_args {
    void* const* slots;
    const std::int32_t* inputs;  // slot numbers
    const std::int32_t* outputs; // slot numbers
    const execution_context& on; // threads or queue, scratch memory, place for errors in data
    const step_context* step;
    any_array* sized = nullptr;    // for an op with dynamic outputs: the kernel stores its outputs here
    async_context* wait = nullptr; // for an async op: the kernel copies the inputs that it needs later
    any_array* given = nullptr;    // for a dynamic node that takes ownership (takes_ownership): its inputs

    template <class T> const T* in(int i) const { return static_cast<const T*>(slots[inputs[i]]); }
    /// Returns input i as a borrowed array of the type that the kernel was bound to.
    any_array array(const tensor_type& type, int i) const { return {type.type, type.shape, in<void>(i), nullptr}; }
    /// Returns input i, moved out if this step is its only owner, otherwise borrowed.
    any_array taken(const tensor_type& type, int i) const {
        return given && given[i].is_sole() ? std::move(given[i]) : array(type, i);
    }
    template <class T> T* out(int i) const { return static_cast<T*>(slots[outputs[i]]); }
    /// Returns the address of the new value of variable input i. The op must list the input in `writes`. The old value is there too,
    /// unless the op says that it `replaces_variables`.
    template <class T> T* variable(int i) const { return static_cast<T*>(slots[inputs[i] + 1]); }
    /// Returns the address of the old value of variable input i, for an op that `replaces_variables`. It is that of the new value, or
    /// that of another block: read each element before you write it.
    template <class T> const T* variable_was(int i) const { return in<T>(i); }
    /// Returns the scratch memory; its size was requested when the kernel was bound.
    template <class T = void> T* scratch() const { return static_cast<T*>(on.scratch); }
};

/// The arguments for binding a kernel: everything that stays the same from step to step.
struct kernel_request {
    std::span<const tensor_type> inputs; // complete shapes
    std::span<const tensor_type> outputs;
    std::span<const any_array* const> constants = {}; // per input: its constant value, else null. Empty: unknown
    std::size_t scratch_bytes = 0;                    // set by the op: scratch memory of each run
    execution_context on = {}; // the context of all runs, as far as it is known: the threads, which outlive the kernel
    double microseconds = 0; // set by kernels that estimate their time on one thread better than op::cost
    bool shared = false;     // set by the op: the kernel uses the pool
    std::uint64_t seed = 0;  // for a random op: derived from the graph seed and node name, or the op's own seed
    int replica = 0;         // session_options::replica; 0 for an op with a container or a shared name
    /// Returns the stream of the next run; set by a random op. The host calls it once per run and stores the stream in the context.
    std::function<random_stream()> next_stream = {};

    /// Returns the seed that this replica draws with where replica 0 draws with `asked`.
    std::uint64_t seed_of_replica(std::uint64_t asked) const {
        return replica == 0 ? asked : detail::hash_combine(asked, static_cast<std::uint64_t>(replica));
    }

    /// Returns the resource that the node's handle names; creates it with `make` if it does not exist.
    /// `described` is the description that an existing resource must have.
    std::function<std::shared_ptr<resource>(
        const resource_name& name, const std::string& described,
        const std::function<std::shared_ptr<resource>(const std::string& name, allocator& memory)>& make)>
        find_resource = {};
    /// The memory of the operands and of the scratch memory, except host inputs; null for the host's.
    const memory_space* space = nullptr;
    /// The session that runs the kernel. Lock holders register here, to release their lock when it closes.
    std::shared_ptr<cancellation> session = {};
};

/// A kernel bound to shapes: a closure called through one function pointer. Small closures are stored inline.
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
            // a lambda that holds the pointer fits in place
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
    void (*manage_)(void*, void*) noexcept = nullptr; // moves to the second address, or destroys if it is null
    alignas(std::max_align_t) std::byte storage_[capacity];
};

}} // namespace rill::RILL_ABI

#if !RILL_COMPILED
#include <rill/device/kernel.ipp>
#endif
