// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include <rill/core/allocator.hpp>
#include <rill/core/error.hpp>

namespace rill { inline namespace RILL_ABI {

/// What outlives runs and is reached through a handle: a queue, a lock, a table. A handle in a graph is its number, an int64 of rank 0.
class RILL_EXPORT resource : public std::enable_shared_from_this<resource> {
public:
    resource();
    resource(const resource&) = delete;
    resource& operator=(const resource&) = delete;
    RILL_INLINE virtual ~resource();

    std::int64_t number() const noexcept { return number_; }
    /// Kind and type, as messages say them: "FIFOQueue of (float32 [2], int32 []), capacity 100". Two uses of one name agree in it.
    virtual std::string described() const = 0;
    /// Where it makes the arrays that it keeps: one made there it may take over from a step, which saves a copy. Null: it takes none.
    virtual allocator* memory() const noexcept { return nullptr; }
    /// Its container is reset: who waits for it does so in vain.
    virtual void abandon() noexcept {}

private:
    std::int64_t number_;
};

/// Where a resource lives. Without container and shared name it is the session's own; with either one, the process's: in the default
/// container if none is named, under its node's name if no other is.
struct resource_name {
    std::string container, shared_name;
    bool is_private() const { return container.empty() && shared_name.empty(); }
};

namespace detail {

/// From now on until it dies, find_resource gives it.
void make_findable(const std::shared_ptr<resource>& r);
/// Null if there is none of that number, or no longer.
std::shared_ptr<resource> find_resource(std::int64_t number);
[[noreturn]] void refuse_resource(const resource* there, const char* wanted);

} // namespace detail

/// The resource behind a handle; throws invalid_argument if it is of another kind, or gone. `R::kind` says what is wanted.
template <class R> std::shared_ptr<R> resource_as(std::int64_t number) {
    const auto there = detail::find_resource(number);
    auto wanted = std::dynamic_pointer_cast<R>(there);
    if (!wanted) detail::refuse_resource(there.get(), R::kind);
    return wanted;
}

}} // namespace rill::RILL_ABI

#if !RILL_COMPILED
#include <rill/core/resource.ipp>
#endif
