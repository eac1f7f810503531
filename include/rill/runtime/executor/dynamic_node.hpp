// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include <rill/core/vector.hpp>
#include <rill/resources/resources.hpp>
#include <rill/runtime/options.hpp>
#include <rill/runtime/region_kernel.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

/// A node that stands alone, bound to types as they come.
class dynamic_node {
public:
    dynamic_node(subgraph::item it, const session_options& options, std::shared_ptr<resource_store> resources,
                 const device_type& default_device);

    const subgraph::item& item() const { return item_; }
    bool is_async() const { return item_.op->is_async(); }
    /// Its outputs, unless it asked `wait` to come later. It may take inputs over that nobody shares.
    std::vector<any_array> run(std::span<any_array> inputs, const step_context* context, async_context* wait) const;
    /// Refuses outputs of an op that sizes them itself, or of bodies, which are not what the node says they are.
    void check(std::span<const any_array> outputs) const;
    /// Of a node whose bodies are run in pieces: they are driven by who asks, which keeps what `keep` is. Null of others.
    std::unique_ptr<region_driver> begin(std::span<const any_array> inputs, std::shared_ptr<const void>& keep) const;
    /// What is being handled, as an error of the node's.
    [[noreturn]] void rethrow() const;
    void close() const;

private:
    struct bound;
    std::shared_ptr<const bound> bound_to(std::span<const any_array> inputs) const;
    std::vector<any_array> run_kernel(std::span<any_array> inputs, const step_context* context,
                                      async_context* wait) const;

    static constexpr std::size_t kept = 16; // types, or shapes

    subgraph::item item_;
    std::shared_ptr<resource_store> resources_;
    allocator& memory_;
    body_plans bodies_;
    mutable std::mutex mutex_;
    mutable vector<std::shared_ptr<const bound>> bound_; // the last used first
};

}}} // namespace rill::RILL_ABI::detail

#if !RILL_COMPILED
#include <rill/runtime/executor/dynamic_node.ipp>
#endif
