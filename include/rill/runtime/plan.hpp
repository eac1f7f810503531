// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <list>
#include <span>

#include <rill/core/log.hpp>
#include <rill/passes/order.hpp>
#include <rill/passes/place.hpp>
#include <rill/passes/prune.hpp>
#include <rill/passes/share.hpp>
#include <rill/runtime/options.hpp>
#include <rill/runtime/segment.hpp>

namespace rill::inline RILL_ABI::detail {

/// What one kind of run asks for.
struct plan_key {
    std::vector<endpoint> fetches;
    std::vector<const node*> targets;
    std::vector<endpoint> feeds;

    friend bool operator==(const plan_key&, const plan_key&) = default;

    struct hash {
        std::size_t operator()(const plan_key& k) const noexcept {
            std::uint64_t h = k.fetches.size() * 31 + k.feeds.size();
            const auto add = [&](const node* n, int port) {
                h = hash_combine(h, reinterpret_cast<std::uintptr_t>(n) + static_cast<unsigned>(port));
            };
            for (const auto& e : k.fetches) add(e.from, e.port);
            for (const auto* n : k.targets) add(n, 1 << 20);
            for (const auto& e : k.feeds) add(e.from, e.port);
            return static_cast<std::size_t>(h);
        }
    };
};

/// A run, compiled: pruned, shared, ordered and placed once; bound to shapes as they come.
class plan {
public:
    plan(const plan_key& key, const session_options& options, std::shared_ptr<resource_store> resources)
        : resources_(std::move(resources)), memory_(options.memory ? *options.memory : default_allocator()) {
        const auto step = [](subgraph g, [[maybe_unused]] bool ordered) {
#ifndef NDEBUG
            check(g, ordered);
#endif
            return g;
        };
        graph_ = step(prune(key.fetches, key.targets, key.feeds), true);
        graph_ = step(share_common(std::move(graph_)), true);
        graph_ = step(order_variables(std::move(graph_)), false);
        graph_ = step(sort_items(std::move(graph_)), true);
        std::function<void(const node&, const std::string&)> report;
        if (options.log_device_placement)
            report = [](const node& n, const std::string& device) {
                log(log_level::info, n.name + ": (" + std::string(n.op->name()) + "): " + device);
            };
        place(graph_, options.allow_soft_placement, report);
    }

    const subgraph& graph() const noexcept { return graph_; }

    /// The segment for these shapes of the feeds: the last one used, another kept one, or a new one.
    std::shared_ptr<segment> bind(std::span<const tensor_type> feeds) {
        const std::lock_guard lock(mutex_);
        for (auto at = segments_.begin(); at != segments_.end(); ++at)
            if ((*at)->serves(feeds)) {
                if (at != segments_.begin()) segments_.splice(segments_.begin(), segments_, at);
                return segments_.front();
            }
        segments_.push_front(std::make_shared<segment>(graph_, feeds, *resources_, memory_));
        if (segments_.size() > kept) segments_.pop_back();
        return segments_.front();
    }

private:
    static constexpr std::size_t kept = 16; // shapes per plan

    std::shared_ptr<resource_store> resources_;
    allocator& memory_;
    subgraph graph_;
    std::mutex mutex_;
    std::list<std::shared_ptr<segment>> segments_;
};

} // namespace rill::inline RILL_ABI::detail
