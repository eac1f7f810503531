// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/session/session.hpp>

#include <span>
#include <string>
#include <utility>
#include <vector>

namespace rill { inline namespace RILL_ABI {

namespace detail {

RILL_INLINE finished_run::finished_run(std::shared_ptr<prepared_run> run, std::vector<any_array> values,
                                       std::span<const fetch_place> places, const run_options* how)
    : of(std::move(run)), fed(std::move(values)), result(of->run(fed, places, how)) {}
RILL_INLINE finished_run::~finished_run() = default;

RILL_INLINE finished_run run_once(fetch_list& list, std::span<const feed_value* const> feeds,
                                  std::span<const fetch_place> places, const run_options* how) {
    std::vector<any_array> values;
    for (const feed_value* f : feeds) {
        const endpoint e = f->edge ? f->edge.end() : list.core.edge(f->edge_name);
        if (!f->edge) check_countable(e, f->value), check_feed(e, f->value.type());
        list.key.feeds.push_back(e);
        values.push_back(f->value);
    }
    if (!how) return {list.core.find_run(list.key), std::move(values), places, how};
    run_options left = *how; // of the time, when the run is prepared
    auto run = list.core.find_run(list.key, &left);
    return {std::move(run), std::move(values), places, &left};
}

RILL_INLINE const std::shared_ptr<session_core>& core_of(const session& s) { return s.core_; }

RILL_COLD session open_session(const graph& g, const session_options& options, std::shared_ptr<container_set> task) {
    return session(make_session_core(g, options, std::move(task)));
}

RILL_EXPORT RILL_INLINE const session*& default_session_slot() {
    thread_local const session* current = nullptr;
    return current;
}

RILL_INLINE const session& default_session(const char* who) {
    if (!default_session_slot())
        throw failed_precondition(std::string(who) + ": no default session; open a session_scope");
    return *default_session_slot();
}

} // namespace detail

RILL_COLD valued_graph session::variable_values() const {
    std::vector<any_tensor> known;
    for (const auto* n : graph().nodes())
        if (n->op->role() == op_role::variable && core_->has_value(n)) known.emplace_back(endpoint{n, 0});
    const auto values = run(known);
    valued_graph g{graph(), {}};
    for (std::size_t i = 0; i < known.size(); ++i) g.values.emplace_back(known[i].node(), values[i]);
    return g;
}

RILL_INLINE void operation::run() const { detail::default_session("operation::run").run(*this); }

}} // namespace rill::RILL_ABI
