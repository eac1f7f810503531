// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <rill/core/allocator.hpp>
#include <rill/core/error.hpp>
#include <rill/core/named_array.hpp>

namespace rill { inline namespace RILL_ABI {

class resource;

namespace detail {

/// Draws an incarnation, which identifies one life of a task. It is never 0 and fits 31 bits, so that handles are positive.
std::uint32_t draw_incarnation();
/// Returns the incarnation of this process, drawn once and shared by all local sessions.
std::uint32_t process_incarnation();
/// Assigns a resource its number, a handle of the task with this incarnation. find_resource finds the resource until it is destroyed.
void make_findable(const std::shared_ptr<resource>& r, std::uint32_t incarnation);
/// Returns the resource of a handle, or null. Handles of tasks other than `incarnation` yield null. 0 stands for all tasks of this process.
std::shared_ptr<resource> find_resource(std::int64_t number, std::uint32_t incarnation = 0);
/// Throws invalid_argument for a handle that does not refer to a resource of kind `wanted`. `there`: the resource that was found, or null.
[[noreturn]] void refuse_resource(std::int64_t number, std::uint32_t incarnation, const resource* there,
                                  const char* wanted);

} // namespace detail

/// State that outlives runs: a queue, a lock, a table, a variable. Ops refer to it by a handle, its number, an int64 scalar in graphs.
class RILL_EXPORT resource : public std::enable_shared_from_this<resource> {
public:
    resource() = default;
    resource(const resource&) = delete;
    resource& operator=(const resource&) = delete;
    RILL_INLINE virtual ~resource();

    /// Returns the handle. Its upper 32 bits are the incarnation of the task that owns the resource. It is 0 until a container set holds
    /// the resource.
    std::int64_t number() const noexcept { return number_; }
    /// Returns kind and type for messages: "FIFOQueue of (float32 [2], int32 []), capacity 100". It must be equal for all uses of one name.
    virtual std::string described() const = 0;
    /// Returns the allocator of the arrays that the resource keeps, or null. The resource may take over a step's array from this allocator
    /// without a copy.
    virtual allocator* memory() const noexcept { return nullptr; }
    /// Returns the state for a checkpoint as named arrays. Returns none if the resource is not saved.
    RILL_INLINE virtual std::vector<named_array> saved_parts() const;
    /// Restores state that `saved_parts` returned. Throws invalid_argument if it does not fit, and then changes nothing.
    RILL_INLINE virtual void restore_parts(std::span<const named_array> parts);
    /// Throws the exceptions of `restore_parts` for this state but changes nothing: a restore checks all resources first. By default it
    /// refuses any state.
    RILL_INLINE virtual void check_parts(std::span<const named_array> parts) const;
    /// Fails all waiters, because the container is reset.
    virtual void abandon() noexcept {}

private:
    friend void detail::make_findable(const std::shared_ptr<resource>& r, std::uint32_t incarnation);

    std::int64_t number_ = 0;
};

/// The name of a resource. With neither container nor shared name, it is private to a local session; otherwise it belongs to the process.
/// In cluster sessions it always belongs to the task. An empty container stands for the default container.
struct resource_name {
    std::string container, shared_name;

    bool is_private() const { return container.empty() && shared_name.empty(); }
    /// Returns the name within the container: the shared name, or else the name of the node.
    const std::string& known_as(const std::string& node) const { return shared_name.empty() ? node : shared_name; }
};

/// The state of a resource, independent of its session.
struct saved_resource {
    std::string container, name, kind;
    bool of_process = false; // shared by the sessions of a process instead of private to one
    std::vector<named_array> parts = {};
};

/// Returns the resource behind a handle. Throws invalid_argument if it has another kind, belongs to another task, or no longer exists.
/// `R::kind` is the required kind. `incarnation`: the task whose handles are accepted; 0: any task of this process.
template <class R> std::shared_ptr<R> resource_as(std::int64_t number, std::uint32_t incarnation = 0) {
    const auto there = detail::find_resource(number, incarnation);
    auto wanted = std::dynamic_pointer_cast<R>(there);
    if (!wanted) detail::refuse_resource(number, incarnation, there.get(), R::kind);
    return wanted;
}

}} // namespace rill::RILL_ABI

#if !RILL_COMPILED
#include <rill/core/resource.ipp>
#endif
