// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/distributed/peer_channels.hpp>

#include <utility>

namespace rill { inline namespace RILL_ABI { namespace detail {

RILL_COLD peer_channels::peer_channels(cluster_spec cluster, task_identity self, std::shared_ptr<transport> net,
                                       environment& runs_in, const health_options& health)
    : cluster_(std::move(cluster)), self_(std::move(self)), net_(std::move(net)), env_(runs_in), health_(health) {}

RILL_COLD std::shared_ptr<channel> peer_channels::to(const std::string& task) {
    const auto& address = cluster_.address(parse_device(task));
    const std::lock_guard lock(mutex_);
    if (closed_) throw unavailable(self_.name + " has stopped");
    if (const auto known = all_.find(task); known != all_.end()) return known->second;
    auto made = std::make_shared<channel>(net_, env_, self_, address, task, health_);
    all_.emplace(task, made);
    return made;
}

RILL_COLD std::uint64_t peer_channels::bytes_sent() {
    const std::lock_guard lock(mutex_);
    std::uint64_t sum = 0;
    for (const auto& [task, c] : all_) sum += c->bytes_sent();
    return sum;
}

RILL_COLD void peer_channels::close() noexcept {
    std::map<std::string, std::shared_ptr<channel>> all;
    {
        const std::lock_guard lock(mutex_);
        closed_ = true;
        all.swap(all_);
    }
    const auto why = error_made_by([&] { return unavailable(self_.name + " has stopped"); });
    for (auto& [task, c] : all) c->close(why);
}

}}} // namespace rill::RILL_ABI::detail
