// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/distributed/answers.hpp>

#include <algorithm>
#include <iterator>
#include <utility>

namespace rill { inline namespace RILL_ABI { namespace detail {

RILL_COLD bool answer_table::is_over(std::uint64_t request) const {
    if (request < below_) return true;
    const auto at = ended_.upper_bound(request);
    return at != ended_.begin() && std::prev(at)->second >= request;
}

RILL_COLD answer_table::state answer_table::begin(std::uint64_t request) {
    if (is_over(request)) return state::over;
    if (const auto at = open_.find(request); at != open_.end())
        return at->second.is_done ? state::done : state::running;
    if (open_.size() == most) return state::full;
    open_.try_emplace(request);
    ++running_;
    return state::fresh;
}

RILL_COLD void answer_table::record(std::uint64_t request, message_parts answer) {
    const auto at = open_.find(request);
    if (at == open_.end() || std::exchange(at->second.is_done, true)) return;
    at->second.answer = std::move(answer);
    --running_;
    if (is_over(request)) open_.erase(at); // its caller has cancelled it
}

RILL_COLD const message_parts* answer_table::find(std::uint64_t request) const {
    const auto at = open_.find(request);
    return at == open_.end() || !at->second.is_done ? nullptr : &at->second.answer;
}

RILL_COLD void answer_table::acknowledge(std::uint64_t request) {
    const auto at = open_.find(request);
    if (at == open_.end() || !at->second.is_done) return;
    const auto here = ended_.try_emplace(request, request).first; // first: it may fail, and a request must not run again
    open_.erase(at);
    if (const auto next = std::next(here); next != ended_.end() && next->first == request + 1) {
        here->second = next->second;
        ended_.erase(next);
    }
    if (here != ended_.begin() && std::prev(here)->second + 1 == request) {
        std::prev(here)->second = here->second;
        ended_.erase(here);
    }
}

RILL_COLD void answer_table::acknowledge_below(std::uint64_t request) {
    if (request <= below_) return;
    below_ = request;
    // a request that still runs was cancelled by its caller: it stays until it ends
    std::erase_if(open_, [&](const auto& e) { return e.first < request && e.second.is_done; });
    while (!ended_.empty() && ended_.begin()->first < request) {
        auto range = ended_.extract(ended_.begin()); // moved without an allocation
        if (range.mapped() < request) continue;
        range.key() = request;
        ended_.insert(std::move(range));
    }
}

}}} // namespace rill::RILL_ABI::detail
