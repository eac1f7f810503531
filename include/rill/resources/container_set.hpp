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

/// State by container, name and kind: variables, queues, locks, tables, counters of random ops. It knows no graph: an equal graph that is
/// loaded again finds its state here. A resource stays until its container is reset. Several threads may use a set at once.
class container_set {
public:
    /// Makes an empty set that keeps its state in `memory`, which outlives it. Handles of its resources carry `incarnation`: a task draws
    /// its own, a local session has that of the process.
    explicit container_set(allocator& memory, std::uint32_t incarnation = process_incarnation());
    ~container_set();

    /// Returns the set that the local sessions of this process share, for named containers and shared names.
    static container_set& of_process();

    allocator& memory() const noexcept { return memory_; }
    std::uint32_t incarnation() const noexcept { return incarnation_; }
    /// Returns how many resources were ever made. While the number stays the same, a name that was not found is not there.
    std::uint64_t made() const noexcept;

    /// Returns the resource of a node, made by `make` if it is missing. The session of `user` ends when the container is reset. Throws
    /// invalid_argument if the existing resource has another description.
    std::shared_ptr<resource> find(const resource_name& place, const std::string& node, const std::string& described,
                                   const std::function<std::shared_ptr<resource>(const std::string& name)>& make,
                                   const std::weak_ptr<resource_store>& user);
    /// Returns the resource of a node, or null if there is none of this kind. Only a user of a resource ends with its container.
    std::shared_ptr<resource> known(const resource_name& place, const std::string& node, std::string_view kind,
                                    const std::weak_ptr<resource_store>& user);

    /// A resource, or the saved state of one that is not made yet.
    struct entry {
        std::string container, name, kind;
        std::shared_ptr<resource> what;
        std::vector<named_array> waiting;
    };
    /// Returns all resources, and the saved states that wait for theirs.
    std::vector<entry> entries() const;
    /// Gives a resource its saved state: at once, or when `find` makes it. Throws invalid_argument if it does not fit an existing one.
    void restore(const saved_resource& saved);
    /// Throws invalid_argument if the state does not fit an existing resource. One that is not made yet is checked when it is made.
    void check(const saved_resource& saved) const;
    /// Returns the saved state that waits for a resource; none if there is none.
    std::vector<named_array> waiting(const std::string& container, const std::string& name,
                                     std::string_view kind) const;

    /// Empties the named containers, or all if none is named. Waiters on their resources fail with `cancelled`. Sessions that use one of
    /// the containers end.
    void reset(const std::vector<std::string>& containers);
    /// Drops all state, and leaves sessions and waiters alone.
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
