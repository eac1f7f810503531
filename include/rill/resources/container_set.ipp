// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/resources/container_set.hpp>

#include <atomic>
#include <map>
#include <mutex>
#include <tuple>
#include <utility>

#include <rill/core/algorithm.hpp>
#include <rill/resources/resource_store.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

struct container_set::state {
    struct container {
        std::map<std::pair<std::string, std::string>, std::shared_ptr<resource>> all; // by name and kind
        std::vector<std::weak_ptr<resource_store>> users;

        void add_user(const std::weak_ptr<resource_store>& user) {
            std::erase_if(users, [](const auto& u) { return u.expired(); });
            if (detail::none_of(users, [&](const auto& u) { return !u.owner_before(user) && !user.owner_before(u); }))
                users.push_back(user);
        }
    };
    std::mutex mutex;
    std::map<std::string, container> containers;
    std::map<std::tuple<std::string, std::string, std::string>, std::vector<named_array>>
        waiting; // by container, name and kind
    std::atomic<std::uint64_t> made{0};
};

RILL_COLD container_set::container_set(allocator& memory, std::uint32_t incarnation)
    : memory_(memory), incarnation_(incarnation), state_(std::make_unique<state>()) {}
RILL_COLD container_set::~container_set() = default;

/// Returns the instance of the process. It is leaked, because sessions may close during static destruction.
RILL_EXPORT RILL_COLD container_set& container_set::of_process() {
    static container_set& all = *new container_set(default_allocator());
    return all;
}

RILL_INLINE std::uint64_t container_set::made() const noexcept { return state_->made.load(std::memory_order_acquire); }

/// Maps all queue ops to one kind: two queues with one name but different orders then conflict.
RILL_COLD std::string kind_of(const std::string& described) {
    const std::string first = described.substr(0, described.find(' '));
    return first.ends_with("Queue") ? "Queue" : first;
}

RILL_COLD std::shared_ptr<resource>
container_set::find(const resource_name& place, const std::string& node, const std::string& described,
                    const std::function<std::shared_ptr<resource>(const std::string& name)>& make,
                    const std::weak_ptr<resource_store>& user) {
    const std::string& known_as = place.known_as(node);
    const std::lock_guard lock(state_->mutex);
    auto& in = state_->containers[place.container];
    in.add_user(user);
    std::shared_ptr<resource> there;
    const std::pair key(known_as, kind_of(described));
    if (const auto at = in.all.find(key); at != in.all.end()) there = at->second;
    if (!there) {
        auto made = make(known_as);
        if (const auto saved = state_->waiting.find({place.container, known_as, kind_of(described)});
            saved != state_->waiting.end()) {
            made->restore_parts(saved->second);
            state_->waiting.erase(saved);
        }
        there = in.all[key] = std::move(made);
        state_->made.fetch_add(1, std::memory_order_release);
    } else if (there->described() != described) {
        throw invalid_argument("'" + known_as + "' of the " +
                               (place.container.empty() ? "default container" : "container '" + place.container + "'") +
                               " is a " + there->described() + ", here it is to be a " + described);
    }
    return there;
}

RILL_COLD std::shared_ptr<resource> container_set::known(const resource_name& place, const std::string& node,
                                                         std::string_view kind,
                                                         const std::weak_ptr<resource_store>& user) {
    const std::lock_guard lock(state_->mutex);
    const auto in = state_->containers.find(place.container);
    if (in == state_->containers.end()) return nullptr;
    const auto there = in->second.all.find({place.known_as(node), std::string(kind)});
    if (there == in->second.all.end() || !there->second) return nullptr;
    in->second.add_user(user);
    return there->second;
}

RILL_COLD std::vector<container_set::entry> container_set::entries() const {
    std::vector<entry> all;
    const std::lock_guard lock(state_->mutex);
    for (const auto& [container, in] : state_->containers)
        for (const auto& [key, r] : in.all)
            if (r) all.push_back({container, key.first, key.second, r, {}});
    for (const auto& [key, parts] : state_->waiting)
        all.push_back({std::get<0>(key), std::get<1>(key), std::get<2>(key), nullptr, parts});
    return all;
}

RILL_COLD void container_set::restore(const saved_resource& saved) {
    std::shared_ptr<resource> there;
    {
        const std::lock_guard lock(state_->mutex);
        if (const auto in = state_->containers.find(saved.container); in != state_->containers.end())
            if (const auto at = in->second.all.find({saved.name, saved.kind}); at != in->second.all.end())
                there = at->second;
        if (!there) state_->waiting[{saved.container, saved.name, saved.kind}] = saved.parts;
    }
    if (there) there->restore_parts(saved.parts); // without the lock: it may complete waiting steps
}

RILL_COLD void container_set::check(const saved_resource& saved) const {
    std::shared_ptr<resource> there;
    {
        const std::lock_guard lock(state_->mutex);
        if (const auto in = state_->containers.find(saved.container); in != state_->containers.end())
            if (const auto at = in->second.all.find({saved.name, saved.kind}); at != in->second.all.end())
                there = at->second;
    }
    if (there) there->check_parts(saved.parts);
}

RILL_COLD std::vector<named_array> container_set::waiting(const std::string& container, const std::string& name,
                                                          std::string_view kind) const {
    const std::lock_guard lock(state_->mutex);
    const auto at = state_->waiting.find({container, name, std::string(kind)});
    return at == state_->waiting.end() ? std::vector<named_array>() : at->second;
}

RILL_COLD void container_set::reset(const std::vector<std::string>& names) {
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
        std::erase_if(state_->waiting,
                      [&](const auto& w) { return names.empty() || detail::contains(names, std::get<0>(w.first)); });
    }
    for (const auto& c : gone) {
        for (const auto& user : c.users)
            if (const auto store = user.lock()) store->end("one of its containers was reset");
        for (const auto& [key, r] : c.all) r->abandon();
    }
}

RILL_COLD void container_set::clear() noexcept {
    std::map<std::string, state::container> gone; // destroyed after the lock is released
    const std::lock_guard lock(state_->mutex);
    gone.swap(state_->containers);
    state_->waiting.clear();
}

}}} // namespace rill::RILL_ABI::detail
