// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/session/local_session_core.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <iterator>
#include <list>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include <rill/core/algorithm.hpp>
#include <rill/core/hash_map.hpp>
#include <rill/core/shared.hpp>
#include <rill/core/vector.hpp>
#include <rill/resources/resource_store.hpp>
#include <rill/runtime/executor/step_run.hpp>
#include <rill/runtime/plan/compile_graph.hpp>
#include <rill/runtime/plan/plan.hpp>
#include <rill/runtime/trace/step_recorder.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

class local_run;

/// An LRU cache of prepared runs: a session with ever new fetches must not grow. Callables hold their own runs.
class run_cache {
public:
    std::shared_ptr<local_run> find(const plan_key& key);
    /// Adds a run unless the key has one already, and returns the cached run. `gone` receives an evicted run.
    std::shared_ptr<local_run> add(const plan_key& key, std::shared_ptr<local_run> made,
                                   std::shared_ptr<local_run>& gone);
    /// Calls f(run) for each cached run, and for evicted runs that a callable still holds.
    template <class F> void each(const F& f) const {
        for (const auto& [key, kept] : runs_) f(kept.run);
        for (const auto& r : given_up_)
            if (const auto held = r.lock()) f(held);
    }
    void clear();

private:
    static constexpr std::size_t most = 64;

    struct entry {
        std::shared_ptr<local_run> run;
        std::list<const plan_key*>::iterator place;
    };
    std::unordered_map<plan_key, entry, plan_key::hash> runs_;
    std::list<const plan_key*> latest_; // most recently used first
    vector<std::weak_ptr<local_run>> given_up_;
};

RILL_INLINE std::shared_ptr<local_run> run_cache::find(const plan_key& key) {
    const auto at = runs_.find(key);
    if (at == runs_.end()) return nullptr;
    latest_.splice(latest_.begin(), latest_, at->second.place);
    return at->second.run;
}

RILL_COLD std::shared_ptr<local_run> run_cache::add(const plan_key& key, std::shared_ptr<local_run> made,
                                                    std::shared_ptr<local_run>& gone) {
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

RILL_COLD void run_cache::clear() {
    runs_.clear();
    latest_.clear();
    given_up_.clear();
}

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

    const std::shared_ptr<resource_store> resources;
    const std::shared_ptr<placement> where; // of the nodes of all plans
    const step_context context;             // the base context of every step
    std::mutex mutex;
    run_cache runs;
    hash_set<std::string> done_once;
    std::source_location closed_at; // set before the resources end
};

RILL_COLD void local_session_state::refuse_closed(const plan_key* asked) const {
    const std::string why = resources->why_ended();
    std::string text = "the session is closed" + at_place(closed_at) + (why.empty() ? "" : ": " + why);
    const node* const first = !asked                    ? nullptr
                              : !asked->fetches.empty() ? asked->fetches[0].from
                              : !asked->targets.empty() ? asked->targets[0]
                                                        : nullptr;
    if (first) text += "; asked for '" + first->name + "' (made at " + to_string(first->where) + ")";
    throw cancelled(text);
}

RILL_COLD step_context local_session_state::context_of(const run_options& how) const {
    step_context made = context;
    if (how.cancel) made.token = how.cancel->state().get();
    if (how.timeout != forever) made.deadline = made.env().now_plus(how.timeout);
    return made;
}

/// A plan of a session in this process.
class local_run final : public prepared_run, public std::enable_shared_from_this<local_run> {
public:
    local_run(const plan_key& key, const session_options& options, std::shared_ptr<local_session_state> session)
        : session_(std::move(session)), plan_(key, options, session_->resources, session_->where) {}

    RILL_INLINE step_result run(std::span<const any_array> feeds, std::span<const fetch_place> places,
                                const run_options* how) override;
    RILL_INLINE void start(std::vector<any_array> feeds, const run_options& how, completion done) override;
    std::string memory_report() override { return plan_.memory_report(); }
    void close() noexcept { plan_.close(); }

private:
    void run_with_options(step_result& step, std::span<const fetch_place> places, std::span<const void* const> feeds,
                          const run_options& how) const;

    const std::shared_ptr<local_session_state> session_;
    plan plan_;
};

RILL_INLINE step_result local_run::run(std::span<const any_array> feeds, std::span<const fetch_place> places,
                                       const run_options* how) {
    session_->check_open();
    constexpr std::size_t few = 8;
    std::array<const void*, few> few_data;
    vector<const void*> many_data;
    if (feeds.size() > few) many_data.resize(feeds.size());
    const std::span<const void*> data(feeds.size() > few ? many_data.data() : few_data.data(), feeds.size());
    for (std::size_t i = 0; i < feeds.size(); ++i) data[i] = feeds[i].data();
    try {
        step_result step(plan_, plan_.acquire(feeds)); // its destructor returns the frame, also if the run throws
        if (how)
            run_with_options(step, places, data, *how);
        else
            step.run(places, data, session_->context);
        return step;
    } catch (...) {
        session_->check_open(); // closing removes variables: a run that fails for that reason was cancelled
        throw;
    }
}

RILL_COLD void local_run::run_with_options(step_result& step, std::span<const fetch_place> places,
                                           std::span<const void* const> feeds, const run_options& how) const {
    auto context = session_->context_of(how);
    context.check();
    if (!how.trace) return step.run(places, feeds, context);
    const traced_step traced(*how.trace, context);
    step.run(places, feeds, context);
}

RILL_COLD void local_run::start(std::vector<any_array> feeds, const run_options& how, completion done) {
    session_->check_open();
    const auto self = shared_from_this();
    auto end = [session = session_, done = std::move(done)](std::exception_ptr problem, std::vector<any_array> values) {
        if (problem && session->closed()) try { // as for a blocking run
                session->refuse_closed(nullptr);
            } catch (...) {
                problem = std::current_exception();
            }
        done(problem, std::move(values));
    };
    step_run::start({.of = {self, &plan_},
                     .feeds = std::move(feeds),
                     .context = session_->context_of(how),
                     .trace = how.trace,
                     .done = std::move(end)});
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
    : session_core(g), options_(options),
      state_(std::make_shared<local_session_state>(
          detail::make_shared<resource_store>(options.memory ? *options.memory : default_allocator(),
                                              threads_for(options), std::move(task), options.replica),
          options)),
      device_(state_->where->default_device()) {}

RILL_COLD local_session_core::~local_session_core() {
    const std::lock_guard lock(state_->mutex);
    state_->runs.clear(); // which hold the state
}

RILL_COLD std::shared_ptr<local_session_core>
make_local_session_core(const rill::graph& g, const session_options& options, std::shared_ptr<container_set> task) {
    return detail::make_shared<local_session_core>(g, options, std::move(task));
}

RILL_COLD std::shared_ptr<session_core> make_session_core(const rill::graph& g, const session_options& options,
                                                          std::shared_ptr<container_set> task) {
    return make_local_session_core(g, options, std::move(task));
}

RILL_COLD void local_session_core::share(const node* variable, const std::shared_ptr<variable_state>& value) {
    state_->resources->share(variable, value);
}

RILL_COLD std::shared_ptr<variable_state> local_session_core::shared(const node* variable) {
    return state_->resources->known_variable(variable);
}

RILL_INLINE bool local_session_core::closed() const noexcept { return state_->closed(); }

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

RILL_INLINE std::shared_ptr<prepared_run> local_session_core::find_run(const plan_key& key) {
    state_->check_open(&key);
    {
        const std::lock_guard lock(state_->mutex);
        if (auto known = state_->runs.find(key)) return known;
    }
    check_key(key);
    auto made = detail::make_shared<local_run>(key, options_, state_);
    std::shared_ptr<local_run> gone; // destroyed after the lock is released
    const std::lock_guard lock(state_->mutex);
    state_->check_open(&key); // a run added after closing would stay
    return state_->runs.add(key, std::move(made), gone);
}

RILL_COLD std::string local_session_core::memory_report() {
    vector<std::shared_ptr<local_run>> all;
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

RILL_COLD void local_session_core::check_key(const plan_key& key) const {
    const auto check = [&](const node* n, const char* what) {
        if (!n) throw failed_precondition(std::string(what) + ": a null handle was used");
        if (n->inside)
            throw invalid_argument(std::string(what) + ": '" + n->name + "' (made at " + to_string(n->where) +
                                   ") belongs to the body " + text_of(*n->inside) +
                                   ": it has values only while that runs");
        if (n->owner != &graph().state())
            throw invalid_argument(std::string(what) + ": '" + n->name + "' (made at " + to_string(n->where) +
                                   ") belongs to another graph than the session");
    };
    for (const auto& e : key.fetches) check(e.from, "fetch");
    for (const auto* n : key.targets) check(n, "run");
    for (std::size_t i = 0; i < key.feeds.size(); ++i) {
        check(key.feeds[i].from, "feed");
        for (std::size_t j = 0; j < i; ++j)
            if (key.feeds[i] == key.feeds[j])
                throw invalid_argument("feed: '" + name_of(key.feeds[i]) + "' is fed twice");
    }
}

}}} // namespace rill::RILL_ABI::detail
