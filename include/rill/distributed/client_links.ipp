// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/distributed/client_links.hpp>

#include <utility>

namespace rill { inline namespace RILL_ABI { namespace detail {

RILL_EXPORT RILL_COLD client_links& the_client_links() {
    static client_links& links = *new client_links; // leaked: sessions and servers may be static
    return links;
}

RILL_COLD task_identity client_identity(environment& runs_in) { return {"client", runs_in.draw() | 1, ""}; }

RILL_COLD void client_links::add(const std::string& target, std::shared_ptr<channel> to) {
    const std::lock_guard lock(mutex_);
    all_[target] = std::move(to);
}

RILL_COLD void client_links::remove(const std::string& target, const std::shared_ptr<channel>& to) {
    const std::lock_guard lock(mutex_);
    if (const auto at = all_.find(target); at != all_.end() && at->second == to) all_.erase(at);
}

RILL_COLD void client_links::add_scheme(const std::string& scheme, maker f) {
    const std::lock_guard lock(mutex_);
    schemes_[scheme] = std::move(f);
}

RILL_COLD std::shared_ptr<channel> client_links::find(const std::string& target, const session_options& options) {
    const std::lock_guard lock(mutex_);
    if (const auto at = all_.find(target); at != all_.end()) return at->second;
    if (target.starts_with("local://")) throw unavailable("no server of this process has the target '" + target + "'");
    for (const auto& [scheme, make] : schemes_)
        if (target.starts_with(scheme)) return all_[target] = make(target, options);
    throw invalid_argument("the target '" + target + "' has no scheme that this program serves, as local:// is");
}

}}} // namespace rill::RILL_ABI::detail
