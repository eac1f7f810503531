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

/// Draws an incarnation: the number of one life of a task. It is never 0 and fits 31 bits, so that handles are positive.
std::uint32_t draw_incarnation();
/// Returns the incarnation of this process, drawn once. All local sessions have it.
std::uint32_t process_incarnation();
/// Gives the resource its number: a handle of the task with this incarnation. find_resource finds it from now on until it dies.
void make_findable(const std::shared_ptr<resource>& r, std::uint32_t incarnation);
/// Returns the resource of a handle, or null if there is none. Handles of tasks other than `incarnation` are of none. 0 stands for all
/// tasks of this process.
std::shared_ptr<resource> find_resource(std::int64_t number, std::uint32_t incarnation = 0);
/// Throws invalid_argument for a handle that is of no resource of the kind `wanted`. `there`: the resource that was found, or null.
[[noreturn]] void refuse_resource(std::int64_t number, std::uint32_t incarnation, const resource* there,
                                  const char* wanted);

} // namespace detail

/// State that outlives runs: a queue, a lock, a table, a variable. Ops reach it through a handle, its number. In a graph a handle is an
/// int64 of rank 0.
class RILL_EXPORT resource : public std::enable_shared_from_this<resource> {
public:
    resource() = default;
    resource(const resource&) = delete;
    resource& operator=(const resource&) = delete;
    RILL_INLINE virtual ~resource();

    /// Returns the handle. Its upper 32 bits are the incarnation of the task that owns the resource. It is 0 until a container set holds
    /// the resource.
    std::int64_t number() const noexcept { return number_; }
    /// Returns kind and type for messages: "FIFOQueue of (float32 [2], int32 []), capacity 100". Two uses of one name must agree in it.
    virtual std::string described() const = 0;
    /// Returns the allocator of the arrays that the resource keeps, or null. It may take over a step's array from there without a copy.
    virtual allocator* memory() const noexcept { return nullptr; }
    /// Returns the state that a checkpoint keeps, as arrays by name. None: the resource is not saved.
    RILL_INLINE virtual std::vector<named_array> saved_parts() const;
    /// Takes the state that `saved_parts` has returned. Throws invalid_argument if it does not fit, and changes nothing then.
    RILL_INLINE virtual void restore_parts(std::span<const named_array> parts);
    /// Throws what `restore_parts` would throw for this state, and changes nothing: a restore checks all resources first. By default it refuses
    /// resources that save nothing.
    RILL_INLINE virtual void check_parts(std::span<const named_array> parts) const;
    /// Fails all waiters, because the container is reset.
    virtual void abandon() noexcept {}

private:
    friend void detail::make_findable(const std::shared_ptr<resource>& r, std::uint32_t incarnation);

    std::int64_t number_ = 0;
};

/// The name of state. Without container and shared name a local session keeps it to itself; with either one it belongs to the process.
/// In a cluster session all of it belongs to the task. The default container holds it if none is named.
struct resource_name {
    std::string container, shared_name;

    bool is_private() const { return container.empty() && shared_name.empty(); }
    /// Returns the name within the container: the shared name, or else the name of the node.
    const std::string& known_as(const std::string& node) const { return shared_name.empty() ? node : shared_name; }
};

/// The state of a resource, apart from the session that had it.
struct saved_resource {
    std::string container, name, kind;
    bool of_process = false; // shared by the sessions of a process, not private to one
    std::vector<named_array> parts = {};
};

/// Returns the resource behind a handle. Throws invalid_argument if it is of another kind, of another task, or gone. `R::kind` says which
/// kind is wanted. `incarnation`: the task whose handles are accepted; 0: any task of this process.
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
