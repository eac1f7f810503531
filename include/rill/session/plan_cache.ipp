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
    if (runs_.size() == most) {
        const auto oldest = runs_.find(*latest_.back());
        gone = std::move(oldest->second.run);
        latest_.pop_back();
        runs_.erase(oldest);
        erase_if(given_up_, [](const auto& r) { return r.expired(); });
        given_up_.push_back(gone);
    }
    const auto at = runs_.try_emplace(key).first;
    latest_.push_front(&at->first);
    at->second = {std::move(made), latest_.begin()};
    return at->second.run;
}

RILL_COLD void plan_cache::clear() {
    runs_.clear();
    latest_.clear();
    given_up_.clear();
}

}}} // namespace rill::RILL_ABI::detail
