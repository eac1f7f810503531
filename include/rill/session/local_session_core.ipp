// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/session/local_session_core.hpp>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <rill/core/algorithm.hpp>
#include <rill/core/hash_map.hpp>
#include <rill/core/platform.hpp>
#include <rill/core/shared.hpp>
#include <rill/core/vector.hpp>
#include <rill/resources/resource_store.hpp>
#include <rill/runtime/executor/step_run.hpp>
#include <rill/runtime/plan/compile_graph.hpp>
#include <rill/runtime/plan/plan.hpp>
#include <rill/runtime/trace/step_recorder.hpp>
#include <rill/session/local_session_state.hpp>
#include <rill/session/measured_run.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

/// A plan of a session in this process.
class local_run final : public prepared_run, public std::enable_shared_from_this<local_run> {
public:
    local_run(const plan_key& key, const session_options& options, std::shared_ptr<local_session_state> session)
        : session_(std::move(session)), plan_(key, options, session_->resources, session_->where) {}

    RILL_INLINE step_result run(std::span<const any_array> feeds, std::span<const fetch_place> places,
                                const run_options* how) override;
    RILL_INLINE void start(std::vector<any_array> feeds, const run_options& how, completion done) override;
    std::string memory_report() override { return plan_.memory_report(); }
    void close() noexcept override { plan_.close(); }

private:
    void run_with_options(step_result& step, std::span<const fetch_place> places, const run_options& how) const;

    const std::shared_ptr<local_session_state> session_;
    plan plan_;
};

RILL_INLINE step_result local_run::run(std::span<const any_array> feeds, std::span<const fetch_place> places,
                                       const run_options* how) {
    session_->check_open();
    step_result step(plan_); // its destructor returns the frame, also if the run throws
    try {
        step.begin(feeds);
        if (how)
            run_with_options(step, places, *how);
        else
            step.run(places, session_->context);
    } catch (...) {
        session_->check_open(); // closing removes variables: a run that fails for that reason was cancelled
        throw;
    }
    return step;
}

RILL_COLD void local_run::run_with_options(step_result& step, std::span<const fetch_place> places,
                                           const run_options& how) const {
    auto context = session_->context_of(how);
    context.check();
    if (!how.trace) return step.run(places, context);
    const traced_step traced(*how.trace, context);
    step.run(places, context);
}

RILL_COLD void local_run::start(std::vector<any_array> feeds, const run_options& how, completion done) {
    session_->check_open();
    step_run::start({shared_from_this(), &plan_}, std::move(feeds),
                    local_session_state::request_of(session_, how, std::move(done)));
}

/// Returns one pool for work within ops and for lanes, with the larger of the two thread counts.
inline step_threads threads_for(const session_options& o) {
    const int all = default_thread_pool().threads();
    const auto count = [&](int asked) { return asked < 0 ? all : std::max(asked, 1); };
    const int within = count(o.intra_op_threads), lanes = count(o.inter_op_threads), most = std::max(within, lanes);
    step_threads t{nullptr, within > 1, lanes};
    if (most > 1 && most == all && (o.intra_op_threads < 0 || o.inter_op_threads < 0))
        t.pool = {std::shared_ptr<thread_pool>(), &default_thread_pool()};
    else if (most > 1)
        t.pool = detail::make_shared<thread_pool>(most - 1);
    return t;
}

RILL_COLD local_session_core::local_session_core(const rill::graph& g, const session_options& options,
                                                 std::shared_ptr<container_set> task)
    : session_core(g, options.environment), options_(options),
      state_(std::make_shared<local_session_state>(
          detail::make_shared<resource_store>(options.memory ? *options.memory : default_allocator(),
                                              threads_for(options), std::move(task), options.replica),
          options)),
      device_(state_->where->default_device()) {}

RILL_COLD local_session_core::~local_session_core() {
    const std::lock_guard lock(state_->mutex);
    state_->runs.clear(); // the runs hold the state
}

RILL_COLD std::shared_ptr<local_session_core>
make_local_session_core(const rill::graph& g, const session_options& options, std::shared_ptr<container_set> task) {
    return detail::make_shared<local_session_core>(g, options, std::move(task));
}

RILL_COLD std::shared_ptr<session_core> make_session_core(const rill::graph& g, const session_options& options,
                                                          std::shared_ptr<container_set> task) {
    if (!options.target.empty()) return remote_sessions_for(options.target).open(g, options);
    return make_local_session_core(g, options, std::move(task));
}

RILL_COLD void local_session_core::share(const node* variable, const std::shared_ptr<variable_state>& value) {
    state_->resources->share(variable, value);
}

RILL_COLD std::shared_ptr<variable_state> local_session_core::shared(const node* variable) {
    return state_->resources->known_variable(variable);
}

RILL_INLINE bool local_session_core::closed() const noexcept { return state_->closed(); }

RILL_COLD std::vector<session_device> local_session_core::devices() const {
    std::vector<session_device> all;
    for (const auto* d : state_->where->devices().all())
        all.push_back({logged_name(d->full), d->type->name, d->space ? d->space->bytes : host_memory()});
    return all;
}

RILL_COLD std::vector<run_part> local_session_core::partition(const plan_key& key) {
    state_->check_open(&key);
    check_key(key);
    const auto cut = make_partitioned_run.load()(key, options_, state_);
    return cut ? cut->parts() : std::vector<run_part>{{graph(), file_name_of(to_string(device_.full))}};
}

RILL_COLD bool local_session_core::has_value(const node* variable) const {
    return state_->resources->has_value(variable);
}

RILL_COLD any_array local_session_core::variable_value(const node* variable) const {
    state_->check_open();
    return state_->resources->variable_value(variable);
}

RILL_COLD void local_session_core::restore_variable(const node* variable, const any_array& value) {
    state_->check_open();
    state_->resources->restore_variable(variable, value);
}

RILL_COLD std::vector<saved_resource> local_session_core::saved_resources() const {
    state_->check_open();
    return state_->resources->saved_resources();
}

RILL_COLD void local_session_core::restore_resource(const saved_resource& saved) {
    state_->check_open();
    state_->resources->restore_resource(saved);
}

RILL_COLD void local_session_core::check_variable(const node* variable, const any_array& value) const {
    state_->check_open();
    state_->resources->check_variable(variable, value);
}

RILL_COLD void local_session_core::check_resource(const saved_resource& saved) const {
    state_->check_open();
    state_->resources->check_resource(saved);
}

RILL_INLINE void local_session_core::close(const std::source_location& where) noexcept {
    {
        const std::lock_guard lock(state_->mutex);
        if (!closed()) state_->closed_at = where;
    }
    state_->resources->end(""); // without the lock: waiting runs continue within this call
    const std::lock_guard lock(state_->mutex);
    state_->runs.each([](const auto& r) { r->close(); }); // callables may hold runs for ever
    state_->runs.clear();
    state_->resources->release();
}

RILL_INLINE std::shared_ptr<prepared_run> local_session_core::find_run(const plan_key& key, run_options*) {
    state_->check_open(&key);
    {
        const std::lock_guard lock(state_->mutex);
        if (auto known = state_->runs.find(key)) return known;
    }
    check_key(key);
    std::shared_ptr<prepared_run> made =
        options_.partition_devices ? make_partitioned_run.load()(key, options_, state_) : nullptr;
    if (!made) made = detail::make_shared<local_run>(key, options_, state_);
    if (state_->where->costs()) made = detail::make_shared<measured_run>(std::move(made), graph(), state_);
    std::shared_ptr<prepared_run> gone; // destroyed after the lock is released
    const std::lock_guard lock(state_->mutex);
    state_->check_open(&key); // a run added after closing would stay
    return state_->runs.add(key, std::move(made), gone);
}

RILL_COLD std::string local_session_core::memory_report() {
    vector<std::shared_ptr<prepared_run>> all;
    {
        const std::lock_guard lock(state_->mutex);
        state_->runs.each([&](const auto& r) { all.push_back(r); });
    }
    std::string text = "variables: " + std::to_string(state_->resources->variable_bytes()) + " bytes\n";
    std::vector<std::string> lines;
    for (const auto& r : all) lines.push_back(r->memory_report());
    detail::sort(lines);
    for (const auto& l : lines) text += l;
    return text;
}

RILL_COLD bool local_session_core::first_time(const std::string& what) {
    const std::lock_guard lock(state_->mutex);
    return state_->done_once.insert(what);
}

}}} // namespace rill::RILL_ABI::detail
