// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <mutex>
#include <source_location>
#include <string>

#include <rill/core/hash_map.hpp>
#include <rill/passes/place.hpp>
#include <rill/resources/resource_store.hpp>
#include <rill/runtime/executor/posted_step.hpp>
#include <rill/runtime/options.hpp>
#include <rill/runtime/plan/compile_graph.hpp>
#include <rill/runtime/plan_key.hpp>
#include <rill/session/plan_cache.hpp>
#include <rill/session/prepared_run.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

/// The state that a session shares with its runs. Callables may keep it after the session.
struct local_session_state {
    local_session_state(std::shared_ptr<resource_store> all, const session_options& options)
        : resources(std::move(all)), where(make_placement(options)), context{.session = &resources->session(),
                                                                             .environment = options.environment,
                                                                             .incarnation = resources->incarnation()} {}

    bool closed() const noexcept { return context.session->is_cancelled(); }
    void check_open(const plan_key* asked = nullptr) const {
        if (closed()) refuse_closed(asked);
    }
    [[noreturn]] void refuse_closed(const plan_key* asked) const;
    step_context context_of(const run_options& how) const;
    /// Returns the request of a started step. If the session closes meanwhile, the step fails with `cancelled`, like a blocking run.
    static posted_step::request request_of(const std::shared_ptr<local_session_state>& session, const run_options& how,
                                           completion done);

    const std::shared_ptr<resource_store> resources;
    const std::shared_ptr<placement> where; // placement of the nodes of all plans
    const step_context context;             // the base context of every step
    std::mutex mutex;
    plan_cache runs;
    hash_set<std::string> done_once;
    std::source_location closed_at; // set before the resources end
};

/// A function that makes a partitioned run. It returns null if all nodes run on one device.
using partitioned_run_maker = std::shared_ptr<prepared_run> (*)(const plan_key& key, const session_options& options,
                                                                std::shared_ptr<local_session_state> session);

/// The registered maker of partitioned runs; null before register_partitioned_runs.
RILL_EXPORT inline std::atomic<partitioned_run_maker> make_partitioned_run{nullptr};

}}} // namespace rill::RILL_ABI::detail

#if !RILL_COMPILED
#include <rill/session/local_session_state.ipp>
#endif
