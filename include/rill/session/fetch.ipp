// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/session/fetch.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

RILL_INLINE fetch_list::fetch_list(session_core& c) : core(c) {}
RILL_INLINE fetch_list::~fetch_list() = default;
RILL_INLINE void fetch_list::fetch(const endpoint& e) { key.fetches.push_back(e); }
RILL_INLINE void fetch_list::target(const node* n) { key.targets.push_back(n); }

RILL_INLINE void fetch_list::fetch_or_target(const endpoint& e) {
    if (e.port >= 0) return fetch(e);
    operations.push_back(key.fetches.size() + operations.size());
    target(e.from);
}

RILL_INLINE graph fetch_list::graph_for(const graph_state* home) const {
    return home ? graph(const_cast<graph_state&>(*home)) : core.graph();
}

RILL_INLINE any_array take_untyped(const step_result& r, std::size_t i) {
    return owned_copy(r.type(i).type, r.type(i).shape, r.data(i));
}

RILL_INLINE void check_fetched(const dims& promised, const dims& came) {
    if (!rules::compatible(promised, came))
        throw invalid_argument("fetch: a tensor of shape " + to_string(promised) + " came out as " + to_string(came));
}

}}} // namespace rill::RILL_ABI::detail
