// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/session/session_core.hpp>

#include <algorithm>
#include <array>
#include <atomic>
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
#include <rill/core/names.hpp>
#include <rill/core/shared.hpp>
#include <rill/core/vector.hpp>
#include <rill/resources/shared_resources.hpp>
#include <rill/runtime/dynamic_runtime.hpp>
#include <rill/runtime/plan/plan.hpp>
#include <rill/runtime/trace/step_recorder.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

RILL_INLINE step_result::step_result(plan& p, std::unique_ptr<execution_state> step)
    : plan_(p), step_(std::move(step)) {}
RILL_INLINE step_result::step_result(step_result&&) noexcept = default;
RILL_INLINE step_result::~step_result() {
    if (step_) plan_.release(std::move(step_));
}
RILL_INLINE void step_result::run(std::span<const fetch_place> places, std::span<const void* const> feeds,
                                  const step_context& context) {
    if (step_->is_staged) return plan_.control().run(*step_->is_staged, context);
    auto& f = *step_->memory;
    f.context = &context;
    for (std::size_t i = 0; i < places.size(); ++i)
        if (places[i].make) step_->of->place(f, i, places[i], feeds);
    step_->of->run(f, feeds);
}
RILL_INLINE const tensor_type& step_result::type(std::size_t i) const {
    return step_->of ? step_->of->fetch_type(i) : plan_.control().fetched(*step_->is_staged, i).type();
}
RILL_INLINE const void* step_result::data(std::size_t i) const {
    return step_->of ? step_->of->fetch_data(*step_->memory, i) : plan_.control().fetched(*step_->is_staged, i).data();
}
RILL_INLINE bool step_result::placed(std::size_t i) const { return step_->of && step_->of->placed(*step_->memory, i); }

/// An LRU cache of plans: a session with ever new fetches must not grow. Callables hold their own plans.
class plan_cache {
public:
    std::shared_ptr<plan> find(const plan_key& key);
    /// Adds a plan unless the key has one already, and returns the cached plan. `gone` receives an evicted plan.
    std::shared_ptr<plan> add(const plan_key& key, std::shared_ptr<plan> made, std::shared_ptr<plan>& gone);
    /// Calls f(plan) for each cached plan, and for evicted plans that a callable still holds.
    template <class F> void each(const F& f) const {
        for (const auto& [key, kept] : plans_) f(kept.steps);
        for (const auto& p : given_up_)
            if (const auto held = p.lock()) f(held);
    }
    void clear();

private:
    static constexpr std::size_t most = 64;

    struct entry {
        std::shared_ptr<plan> steps;
        std::list<const plan_key*>::iterator place;
    };
    std::unordered_map<plan_key, entry, plan_key::hash> plans_;
    std::list<const plan_key*> latest_; // most recently used first
    vector<std::weak_ptr<plan>> given_up_;
};

RILL_INLINE std::shared_ptr<plan> plan_cache::find(const plan_key& key) {
    const auto at = plans_.find(key);
    if (at == plans_.end()) return nullptr;
    latest_.splice(latest_.begin(), latest_, at->second.place);
    return at->second.steps;
}

RILL_COLD std::shared_ptr<plan> plan_cache::add(const plan_key& key, std::shared_ptr<plan> made,
                                                std::shared_ptr<plan>& gone) {
    if (auto known = find(key)) return known;
    if (plans_.size() == most) {
        const auto oldest = plans_.find(*latest_.back());
        gone = std::move(oldest->second.steps);
        latest_.pop_back();
        plans_.erase(oldest);
        erase_if(given_up_, [](const auto& p) { return p.expired(); });
        given_up_.push_back(gone);
    }
    const auto at = plans_.try_emplace(key).first;
    latest_.push_front(&at->first);
    at->second = {std::move(made), latest_.begin()};
    return at->second.steps;
}

RILL_COLD void plan_cache::clear() {
    plans_.clear();
    latest_.clear();
    given_up_.clear();
}

struct session_core::state {
    state(std::shared_ptr<resource_store> all, rill::environment* environment)
        : resources(std::move(all)), context{.cancel = &resources->ended(), .environment = environment} {}

    std::shared_ptr<resource_store> resources;
    const step_context context; // the base context of every step
    std::mutex mutex;
    plan_cache plans;
    hash_set<std::string> done_once;
    std::source_location closed_at; // set before the resources end
};

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

RILL_COLD session_core::session_core(const rill::graph& g, const session_options& options)
    : graph_(g), options_(options), device_(default_device()),
      state_(std::make_unique<state>(detail::make_shared<resource_store>(
                                         options.memory ? *options.memory : default_allocator(), threads_for(options)),
                                     options.environment)) {}
RILL_COLD session_core::~session_core() = default;

RILL_COLD std::shared_ptr<session_core> make_session_core(const rill::graph& g, const session_options& options) {
    return detail::make_shared<session_core>(g, options);
}

RILL_COLD void reset_containers(const std::string& target, const std::vector<std::string>& containers) {
    if (!target.empty())
        throw unimplemented("session::reset: no session of this program has the target '" + target + "'");
    shared_resources::of_process().reset(containers);
}

RILL_COLD void session_core::share(const node* variable, std::shared_ptr<variable_state> value) {
    state_->resources->share(variable, std::move(value));
}

RILL_COLD std::shared_ptr<variable_state> session_core::shared(const node* variable) {
    return state_->resources->variable(variable);
}

RILL_INLINE bool session_core::closed() const noexcept { return state_->resources->ended(); }

RILL_COLD bool session_core::has_value(const node* variable) const {
    const auto known = state_->resources->known_variable(variable);
    return known && known->has_value();
}

RILL_INLINE void session_core::close(const std::source_location& where) noexcept {
    {
        const std::lock_guard lock(state_->mutex);
        if (!closed()) state_->closed_at = where;
    }
    state_->resources->end(""); // without the lock: waiting runs continue within this call
    const std::lock_guard lock(state_->mutex);
    state_->plans.each([](const auto& p) { p->close(); }); // callables may hold plans for ever
    state_->plans.clear();
    state_->resources->release();
}

RILL_INLINE std::shared_ptr<plan> session_core::find_plan(const plan_key& key) {
    check_open(&key);
    {
        const std::lock_guard lock(state_->mutex);
        if (auto known = state_->plans.find(key)) return known;
    }
    check_key(key);
    auto made = detail::make_shared<plan>(key, options_, state_->resources, device_);
    std::shared_ptr<plan> gone; // destroyed after the lock is released
    const std::lock_guard lock(state_->mutex);
    check_open(&key); // a plan added after closing would stay
    return state_->plans.add(key, std::move(made), gone);
}

RILL_INLINE step_result session_core::run(plan& p, std::span<const any_array> feeds,
                                          std::span<const fetch_place> places, const run_options* how) {
    check_open();
    constexpr std::size_t few = 8;
    std::array<const void*, few> few_data;
    vector<const void*> many_data;
    if (feeds.size() > few) many_data.resize(feeds.size());
    const std::span<const void*> data(feeds.size() > few ? many_data.data() : few_data.data(), feeds.size());
    for (std::size_t i = 0; i < feeds.size(); ++i) data[i] = feeds[i].data();
    try {
        step_result step(p, p.acquire(feeds)); // its destructor returns the frame, also if the run throws
        if (how)
            run_with_options(step, places, data, *how);
        else
            step.run(places, data, state_->context);
        return step;
    } catch (...) {
        check_open(); // closing removes variables: a run that fails for that reason was cancelled
        throw;
    }
}

RILL_COLD void session_core::run_with_options(step_result& step, std::span<const fetch_place> places,
                                              std::span<const void* const> feeds, const run_options& how) const {
    auto context = context_of(how);
    context.check();
    if (!how.trace) return step.run(places, feeds, context);
    step_recorder to(*how.trace, context.env());
    trace_scope all{to};
    context.trace = &all;
    step.run(places, feeds, context);
}

RILL_COLD step_context session_core::context_of(const run_options& how) const {
    step_context context = state_->context;
    if (how.cancel) context.token = &how.cancel->flag();
    if (how.timeout != forever) context.deadline = context.env().now() + how.timeout;
    return context;
}

RILL_COLD std::string session_core::memory_report() {
    vector<std::shared_ptr<plan>> all;
    {
        const std::lock_guard lock(state_->mutex);
        state_->plans.each([&](const auto& p) { all.push_back(p); });
    }
    std::string text = "variables: " + std::to_string(state_->resources->variable_bytes()) + " bytes\n";
    std::vector<std::string> lines;
    for (const auto& p : all) lines.push_back(p->memory_report());
    detail::sort(lines);
    for (const auto& l : lines) text += l;
    return text;
}

RILL_COLD bool session_core::first_time(const std::string& what) {
    const std::lock_guard lock(state_->mutex);
    return state_->done_once.insert(what);
}

RILL_COLD endpoint session_core::edge(const std::string& name) const {
    endpoint e = named(name);
    e.port = std::max(e.port, 0);
    if (e.port >= static_cast<int>(e.from->outputs.size()))
        throw not_found("'" + name + "': the node has " + std::to_string(e.from->outputs.size()) + " outputs");
    return e;
}

RILL_INLINE endpoint session_core::fetched(const std::string& name) const {
    const endpoint e = named(name);
    return e.port < 0 && e.from->outputs.empty() ? e : edge(name);
}

RILL_COLD endpoint session_core::named(const std::string& name) const {
    std::string node_name = name;
    int port = -1;
    if (const auto colon = name.rfind(':'); colon != std::string::npos) {
        node_name = name.substr(0, colon);
        const std::string digits = name.substr(colon + 1);
        if (digits.empty() || digits.size() > 6 || digits.find_first_not_of("0123456789") != std::string::npos)
            throw invalid_argument("'" + name + "': a number is expected behind the colon");
        port = std::stoi(digits);
    }
    const node* n = graph_.state().find(node_name);
    if (!n) {
        std::vector<std::string> names;
        for (const auto* other : graph_.nodes()) names.push_back(other->name);
        std::string text = "the graph has no node '" + node_name + "'";
        const auto nearest = nearest_names(node_name, names);
        for (std::size_t i = 0; i < nearest.size(); ++i) text += (i ? "', '" : "; did you mean '") + nearest[i];
        throw not_found(text + (nearest.empty() ? "" : "'?"));
    }
    return {n, port};
}

RILL_INLINE void session_core::check_open(const plan_key* asked) const {
    if (closed()) refuse_closed(asked);
}

RILL_COLD void session_core::refuse_closed(const plan_key* asked) const {
    const std::string why = state_->resources->why_ended();
    std::string text = "the session is closed" + at_place(state_->closed_at) + (why.empty() ? "" : ": " + why);
    const node* const first = !asked                    ? nullptr
                              : !asked->fetches.empty() ? asked->fetches[0].from
                              : !asked->targets.empty() ? asked->targets[0]
                                                        : nullptr;
    if (first) text += "; asked for '" + first->name + "' (made at " + to_string(first->where) + ")";
    throw cancelled(text);
}

RILL_COLD void session_core::check_key(const plan_key& key) const {
    const auto check = [&](const node* n, const char* what) {
        if (!n) throw failed_precondition(std::string(what) + ": a null handle was used");
        if (n->inside)
            throw invalid_argument(std::string(what) + ": '" + n->name + "' (made at " + to_string(n->where) +
                                   ") belongs to the body " + text_of(*n->inside) +
                                   ": it has values only while that runs");
        if (n->owner != &graph_.state())
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
