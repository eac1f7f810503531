// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/resources/shared_resources.hpp>

#include <algorithm>
#include <map>
#include <mutex>
#include <tuple>
#include <utility>

#include <rill/core/algorithm.hpp>
#include <rill/resources/resource_store.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

struct shared_resources::state {
    struct container {
        std::map<std::pair<std::string, std::string>, std::shared_ptr<resource>> all; // by name and kind
        std::vector<std::weak_ptr<resource_store>> users;
    };
    std::mutex mutex;
    std::map<std::string, container> containers;
};

RILL_COLD shared_resources::shared_resources() : state_(std::make_unique<state>()) {}

/// Returns the instance of the process. It is leaked, because sessions may close during static destruction.
RILL_EXPORT RILL_COLD shared_resources& shared_resources::of_process() {
    static shared_resources& all = *new shared_resources;
    return all;
}

/// Maps all queue ops to one kind: two queues of one name but different order are then a conflict.
RILL_COLD std::string kind_of(const std::string& described) {
    const std::string first = described.substr(0, described.find(' '));
    return first.ends_with("Queue") ? "Queue" : first;
}

RILL_COLD std::shared_ptr<resource>
shared_resources::find(const resource_name& name, const std::string& node, const std::string& described,
                       const std::function<std::shared_ptr<resource>(const std::string& name)>& make,
                       const std::weak_ptr<resource_store>& user) {
    const std::string& known_as = name.shared_name.empty() ? node : name.shared_name;
    const std::lock_guard lock(state_->mutex);
    auto& in = state_->containers[name.container];
    std::erase_if(in.users, [&](const auto& u) { return u.expired(); });
    if (detail::none_of(in.users, [&](const auto& u) { return !u.owner_before(user) && !user.owner_before(u); }))
        in.users.push_back(user);
    auto& there = in.all[{known_as, kind_of(described)}];
    if (!there) {
        there = make(known_as);
        make_findable(there);
    } else if (there->described() != described) {
        throw invalid_argument("'" + known_as + "' of the " +
                               (name.container.empty() ? "default container" : "container '" + name.container + "'") +
                               " is a " + there->described() + ", here it is to be a " + described);
    }
    return there;
}

RILL_COLD void shared_resources::reset(const std::vector<std::string>& names) {
    std::vector<state::container> gone; // destroyed after the lock is released
    {
        const std::lock_guard lock(state_->mutex);
        for (auto at = state_->containers.begin(); at != state_->containers.end();) {
            if (names.empty() || detail::contains(names, at->first)) {
                gone.push_back(std::move(at->second));
                at = state_->containers.erase(at);
            } else {
                ++at;
            }
        }
    }
    for (const auto& c : gone) {
        for (const auto& user : c.users)
            if (const auto store = user.lock()) store->end("one of its containers was reset");
        for (const auto& [key, r] : c.all) r->abandon();
    }
}

}}} // namespace rill::RILL_ABI::detail
