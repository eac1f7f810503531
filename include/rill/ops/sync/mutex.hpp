// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/sync/critical_section.hpp>
#include <rill/ops/sync/mutex_acquire.hpp>
#include <rill/ops/sync/mutex_release.hpp>

namespace rill { inline namespace RILL_ABI {

/// A lock that one session holds at a time.
struct mutex_op : detail::resource_maker {
    static constexpr auto name = "Mutex";

    static void fields(auto& op, auto& visit) { place_fields(op, visit); }
    std::vector<tensor_type> outputs(std::span<const tensor_type>) const { return handle_type(); }
    template <class D, class T> kernel bind(kernel_request& r) const {
        return detail::handle_kernel<D>(detail::make_resource<detail::mutex_state>(r, place));
    }
};

struct mutex_options {
    std::string shared_name = {}; // sessions of this process share the mutex of that name
};

/// A lock in the graph, for each of its sessions or, under a shared name, for the process: mutex lock("name"). A waiting op holds no
/// thread. A session holds the lock; it is released if the step that took it fails, or the session ends. It is not recursive: a second
/// acquire by its holder waits until a release.
class mutex {
public:
    template <class... Unused> // a template, so that only programs that call it contain its kernels
    explicit mutex(const std::string& name = {}, const mutex_options& o = {},
                   const std::source_location& where = std::source_location::current())
        : handle_(detail::add_resource(mutex_op{}, o.shared_name, name, where)) {}

    template <class... Unused>
    operation acquire(const std::source_location& where = std::source_location::current()) const {
        return operation(apply_node(mutex_acquire_op{}, where, handle_).node());
    }
    /// Releases the lock. The op fails with `failed_precondition` if this session does not hold it.
    template <class... Unused>
    operation release(const std::source_location& where = std::source_location::current()) const {
        return operation(apply_node(mutex_release_op{}, where, handle_).node());
    }
    /// Returns the result of `body`: a tensor, a number, a tuple of them, or nothing (then it is an operation). All nodes that `body` makes
    /// run between acquire and release, and read variables as they are then. Values from outside may be computed before.
    template <class F>
        requires std::is_invocable_v<const F&>
    auto critical(const F& body, const std::source_location& where = std::source_location::current()) const {
        require_kernel<mutex_acquire_op, void>();
        require_kernel<mutex_release_op, void>();
        return detail::critical_section({make_op(mutex_acquire_op{}), make_op(mutex_release_op{}), {handle_.end()}},
                                        body, where);
    }
    /// Returns the name of the mutex's node.
    const std::string& name() const { return handle_.node()->name; }
    const any_tensor& handle() const { return handle_; }

private:
    any_tensor handle_;
};

}} // namespace rill::RILL_ABI
