// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/session/plan_cache.hpp>

#include <iterator>
#include <utility>

namespace rill { inline namespace RILL_ABI { namespace detail {

RILL_INLINE std::shared_ptr<prepared_run> plan_cache::find(const plan_key& key) {
    const auto at = runs_.find(key);
    if (at == runs_.end()) return nullptr;
    latest_.splice(latest_.begin(), latest_, at->second.place);
    return at->second.run;
}

RILL_COLD std::shared_ptr<prepared_run> plan_cache::add(const plan_key& key, std::shared_ptr<prepared_run> made,
                                                        std::shared_ptr<prepared_run>& gone) {
    if (auto known = find(key)) return known;
    std::list<const plan_key*> place(1); // made first: a failed allocation must not leave an entry without a place
    if (runs_.size() == most) {
        const auto oldest = runs_.find(*latest_.back());
        erase_if(given_up_, [](const auto& r) { return r.expired(); });
        given_up_.push_back(oldest->second.run);
        gone = std::move(oldest->second.run);
        latest_.pop_back();
        runs_.erase(oldest);
    }
    const auto at = runs_.try_emplace(key).first;
    place.front() = &at->first;
    latest_.splice(latest_.begin(), place);
    at->second = {std::move(made), latest_.begin()};
    return at->second.run;
}

RILL_COLD void plan_cache::clear() {
    runs_.clear();
    latest_.clear();
    given_up_.clear();
}

}}} // namespace rill::RILL_ABI::detail
