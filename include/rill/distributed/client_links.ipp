// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/distributed/client_links.hpp>

#include <utility>

#include <rill/distributed/net_address.hpp>
#include <rill/distributed/transports.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

RILL_EXPORT RILL_COLD client_links& the_client_links() {
    static client_links& links = *new client_links; // leaked: sessions and servers may be static
    return links;
}

RILL_COLD task_identity client_identity(environment& runs_in) { return {"client", runs_in.draw() | 1, ""}; }

RILL_COLD void client_links::add(const std::string& target, std::shared_ptr<channel> to) {
    const std::lock_guard lock(mutex_);
    known_[target] = std::move(to);
}

RILL_COLD void client_links::remove(const std::string& target, const std::shared_ptr<channel>& to) {
    const std::lock_guard lock(mutex_);
    if (const auto at = known_.find(target); at != known_.end() && at->second == to) known_.erase(at);
}

RILL_COLD std::shared_ptr<channel> client_links::find(const std::string& given, const session_options& options) {
    const auto address = parse_address(given);
    const auto target = address.target();
    const std::lock_guard lock(mutex_);
    if (const auto at = known_.find(target); at != known_.end()) return at->second;
    if (address.reached_by == net_address::network::process)
        throw unavailable("no server of this process has the target '" + target + "'");
    const auto keys = options.security.get();
    auto& env = environment::real();
    auto& there = made_[{target, keys.public_key + " " + keys.peer}];
    if (!there)
        there = std::make_shared<channel>(make_transport(target, keys), env, client_identity(env), target, "",
                                          health_options{});
    return there;
}

}}} // namespace rill::RILL_ABI::detail
