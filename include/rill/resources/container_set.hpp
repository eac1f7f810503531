// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <rill/core/allocator.hpp>
#include <rill/core/resource.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

class resource_store;

/// State by container, name and kind: variables, queues, locks, tables, counters of random ops. It is independent of graphs: an equal
/// graph that is loaded again finds its state here. A resource stays until its container is reset. Thread-safe.
class container_set {
public:
    /// Makes an empty set that keeps its state in `memory`, which outlives it. Handles of its resources contain `incarnation`. A task
    /// draws its own incarnation; a local session uses that of the process.
    explicit container_set(allocator& memory, std::uint32_t incarnation = process_incarnation());
    ~container_set();

    /// Returns the set for named containers and shared names, which all local sessions of this process share.
    static container_set& of_process();

    allocator& memory() const noexcept { return memory_; }
    std::uint32_t incarnation() const noexcept { return incarnation_; }
    /// Returns the number of resources ever made. While it stays the same, a failed look-up of a name stays valid.
    std::uint64_t made() const noexcept;

    /// Returns the resource of a node, made by `make` if it is missing. The session of `user` ends when the container is reset. Throws
    /// invalid_argument if the existing resource has another description.
    std::shared_ptr<resource> find(const resource_name& place, const std::string& node, const std::string& described,
                                   const std::function<std::shared_ptr<resource>(const std::string& name)>& make,
                                   const std::weak_ptr<resource_store>& user);
    /// Returns the resource of a node, or null if there is none of this kind. A look-up alone does not tie a session to the container.
    std::shared_ptr<resource> known(const resource_name& place, const std::string& node, std::string_view kind,
                                    const std::weak_ptr<resource_store>& user);

    /// A resource, or saved state whose resource does not exist yet.
    struct entry {
        std::string container, name, kind;
        std::shared_ptr<resource> what;
        std::vector<named_array> waiting;
    };
    /// Returns all resources, and the saved states without a resource.
    std::vector<entry> entries() const;
    /// Restores the saved state of a resource, at once or when `find` makes it. Throws invalid_argument if it does not fit an existing
    /// resource.
    void restore(const saved_resource& saved);
    /// Throws invalid_argument if the state does not fit an existing resource. A missing resource is checked when it is made.
    void check(const saved_resource& saved) const;
    /// Returns the saved state that waits for a missing resource; empty if there is none.
    std::vector<named_array> waiting(const std::string& container, const std::string& name,
                                     std::string_view kind) const;

    /// Empties the named containers, or all if none is named. Waiters on their resources fail with `cancelled`. Sessions that use one of
    /// the containers end.
    void reset(const std::vector<std::string>& containers);
    /// Drops all state, without ending sessions or waiters.
    void clear() noexcept;

private:
    struct state;

    allocator& memory_;
    const std::uint32_t incarnation_;
    std::unique_ptr<state> state_;
};

/// Returns the first word of `described`, or "Queue" for every kind of queue.
std::string kind_of(const std::string& described);

}}} // namespace rill::RILL_ABI::detail

#if !RILL_COMPILED
#include <rill/resources/container_set.ipp>
#endif
