// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/runtime/executor/step_executor.hpp>

#include <algorithm>
#include <cstddef>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <rill/core/algorithm.hpp>
#include <rill/runtime/absent_value.hpp>
#include <rill/runtime/executor/dynamic_node.hpp>
#include <rill/runtime/executor/run_plan.hpp>
#include <rill/runtime/plan/plan.hpp>
#include <rill/runtime/plan/staged_plan.hpp>
#include <rill/runtime/tensor_list.hpp>
#include <rill/runtime/trace/step_recorder.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

/// The async_context of a stage.
class step_executor::place_to_wait final : public async_context {
public:
    place_to_wait(step_executor& run, std::size_t stage) : run_(run), stage_(stage) {}
    bool used() const { return used_; }

    completion defer(std::function<bool()> give_up) override {
        used_ = true;
        if (run_.context_->trace) run_.begin_wait(stage_);
        return run_.events_->defer({&run_, stage_}, std::move(give_up), std::move(awaited_));
    }
    void describe(std::function<std::string()> awaited) override { awaited_ = std::move(awaited); }
    const step_context* step() const override { return run_.context_; }

private:
    step_executor& run_;
    std::size_t stage_;
    bool used_ = false;
    std::function<std::string()> awaited_;
};

/// A run of a node's bodies, and the nested run of the current one.
struct step_executor::body_run {
    std::size_t stage;
    std::unique_ptr<region_driver> bodies;
    std::shared_ptr<const void> keep;
    std::vector<any_array> feeds = {};
    std::unique_ptr<nested_run> now = {};
    std::optional<traced_context> traced = {}; // only in traced runs
};

RILL_COLD step_executor::step_executor(const staged_plan& p, std::span<const any_array> feeds)
    : plan_(p), values_(p.first_values()), held_(p.all_stages().all.size()), missing_(p.missing()),
      left_(missing_.size()) {
    std::copy(feeds.begin(), feeds.end(), values_.begin());
}

RILL_COLD step_executor::~step_executor() {
    for (std::size_t p = 0; p < held_.size(); ++p)
        if (held_[p]) plan_.line(p).release(std::move(held_[p]));
}

RILL_COLD void step_executor::start(const step_context& context, std::function<void()> resume) {
    step_.emplace(context, plan_.progress_timeout(), std::move(resume));
    begin(step_->events, step_->context);
}

RILL_COLD bool step_executor::drive() { return drive(*step_, left_); }

RILL_COLD bool step_executor::drive(step_state& step, const std::size_t& left) {
    try {
        while (left > 0) {
            if (const auto [of, p] = step.events.next(); of)
                static_cast<step_executor*>(of)->run_ready(p);
            else if (!step.events.wait_for_completions())
                return false;
        }
        return true;
    } catch (...) {
        step.fail();
        throw;
    }
}

RILL_COLD void step_executor::begin(completion_queue& events, const step_context& context) {
    events_ = &events;
    context_ = &context;
    for (const auto* n : plan_.pinned())
        if (const auto v = plan_.resources().known_variable(n))
            if (auto version = v->read()) versions_.try_emplace(v.get(), std::move(version));
    for (std::size_t k = 0; k < missing_.size(); ++k)
        if (missing_[k] == 0) events.add({this, k});
}

RILL_COLD std::optional<std::vector<any_array>>
step_executor::begin(parent_run& outer, std::size_t number, completion_queue& events, const step_context& context) {
    parent_ = &outer;
    parent_number_ = number;
    begin(events, context);
    return left_ > 0 ? std::nullopt : std::optional(all_fetched());
}

RILL_COLD void step_executor::run_ready(std::size_t p) {
    const auto& threads = plan_.resources().threads();
    if (plan_.alone(p) || !threads.pool || threads.lanes < 2) return run_stage(p);
    const auto of = [](const completion_queue::stage& r) -> step_executor& {
        return static_cast<step_executor&>(*r.of);
    };
    const auto microseconds = [&](const completion_queue::stage& r) {
        try {
            return of(r).hold(r.number).microseconds();
        } catch (...) {
            of(r).rethrow_outwards();
        }
    };
    const auto is_long = [&](const completion_queue::stage& r) {
        return !of(r).plan_.alone(r.number) && microseconds(r) > fork_cost;
    };
    const auto is_brief = [&](const completion_queue::stage& r) { return !is_long(r); };
    if (!is_long({this, p})) return run_stage(p);
    // short stages go first, for some rounds: they may begin to wait, or make further long segments ready
    auto& events = *events_;
    for (int round = 0; round < 16; ++round) {
        const auto brief = events.take(~std::size_t(0), is_brief);
        if (brief.empty()) break;
        for (const auto& r : brief) {
            context_->check();
            of(r).run_stage(r.number);
        }
    }
    auto lines = events.take(longest_window - 1, is_long);
    lines.push_back({this, p});
    vector<step_cost> costs;
    for (const auto& r : lines) costs.push_back({microseconds(r), false});
    const vector<step_order> order(lines.size());
    const auto dealt = find_parallel_regions(order, costs, threads.lanes);
    if (!dealt.empty()) return run_beside(lines, dealt[0], *threads.pool);
    lines.pop_back();
    for (const auto& r : lines) events.add(r);
    run_stage(p);
}

/// Runs segments in parallel lanes. All of them end before another stage of the step runs.
RILL_COLD void step_executor::run_beside(std::span<const completion_queue::stage> lines, const parallel_regions& dealt,
                                         thread_pool& pool) {
    const auto run_segment = [&](const completion_queue::stage& r) {
        auto& of = static_cast<step_executor&>(*r.of);
        try {
            of.run_segment(r.number);
        } catch (...) {
            of.rethrow_outwards();
        }
    };
    pool.run(static_cast<int>(dealt.lanes.size()), [&](int s) {
        for (const int i : dealt.lanes[s]) run_segment(lines[i]);
    });
    for (const auto& r : lines) static_cast<step_executor&>(*r.of).complete(r.number);
}

RILL_COLD const any_array& step_executor::taken(std::size_t p, std::size_t k) {
    const int v = plan_.all_stages().all[p].inputs[k];
    if (!values_[v].empty()) return values_[v];
    const auto [at, fresh] = absent_values_.try_emplace(v, any_array());
    if (!fresh) return at->second;
    const auto* alone = plan_.alone(p);
    const auto& type = type_of(alone ? alone->item().origin->inputs[k] : plan_.line(p).graph().feeds[k]);
    return at->second = stand_in(type, alone ? alone->item().input_memory(k) : plan_.line(p).feed_space(k));
}

RILL_COLD const segment& step_executor::hold(std::size_t p) {
    if (!held_[p]) {
        vector<any_array> in;
        for (std::size_t k = 0; k < plan_.all_stages().all[p].inputs.size(); ++k) {
            in.push_back(taken(p, k));
            refuse_tensor_lists({&in.back().type(), 1});
        }
        held_[p] = plan_.line(p).acquire(in);
    }
    return *held_[p]->of;
}

RILL_COLD void step_executor::run_stage(std::size_t p) {
    bool done = true;
    try {
        if (plan_.alone(p))
            done = run_dynamic(p);
        else
            run_segment(p);
    } catch (...) {
        rethrow_outwards();
    }
    if (done) complete(p);
}

RILL_COLD void step_executor::run_segment(std::size_t p) {
    const auto& stage = plan_.all_stages().all[p];
    hold(p);
    auto& step = *held_[p];
    step.memory->pinned = &versions_;
    std::optional<traced_context> traced;
    if (context_->trace) {
        traced.emplace(*context_, *context_->trace);
        traced->scope.stage = static_cast<int>(p);
    }
    struct kept_place {
        allocator* memory;
        any_array made = {};
    };
    const auto make_kept = [](void* place, const tensor_type& type) {
        auto& to = *static_cast<kept_place*>(place);
        return (to.made = any_array(type.type, type.shape, *to.memory)).mutable_data();
    };
    for (std::size_t k = 0; k < stage.outputs.size(); ++k)
        if (auto* memory = plan_.kept_in(stage.outputs[k]); memory && step.of->fetched_alone(k)) {
            kept_place to{memory};
            step.of->place(*step.memory, k, {&to, make_kept});
            values_[stage.outputs[k]] = std::move(to.made);
        }
    if (!step.of->bound().write_list.empty()) // earlier segments with these variables have ended
        for (const auto& other : held_)
            if (other && other.get() != &step) other->of->release_written(*other->memory, *step.of);
    step.of->run(*step.memory, traced ? *traced : *context_);
    step.memory->pinned = nullptr;
    for (std::size_t k = 0; k < stage.outputs.size(); ++k)
        if (auto& given = values_[stage.outputs[k]]; !step.of->placed(*step.memory, k))
            given = step.of->fetched(*step.memory, k);
}

RILL_COLD bool step_executor::run_dynamic(std::size_t p) {
    const auto& alone = *plan_.alone(p);
    const auto& inputs = plan_.all_stages().all[p].inputs;
    const bool has_bodies = alone.item().origin->bodies;
    vector<any_array> in;
    for (std::size_t k = 0; k < inputs.size(); ++k)
        if (plan_.kept_in(inputs[k]))
            in.push_back(std::move(values_[inputs[k]]));
        else // a body that does not run may have absent inputs
            in.push_back(has_bodies ? values_[inputs[k]] : taken(p, k));
    std::shared_ptr<const void> keep;
    if (auto bodies = alone.begin(in, keep)) {
        auto& begun = *bodies_.emplace_back(std::make_unique<body_run>(p, std::move(bodies), std::move(keep)));
        if (auto* scope = context_->trace) {
            auto e = entry_of(p);
            e.what = step_trace::kind::lasted;
            begun.traced.emplace(*context_, scope->within(scope->to.begin(std::move(e)), *alone.item().op->regions()));
            begun.traced->scope.counts = false; // the driver knows the iteration
        }
        return run_bodies(p, {});
    }
    place_to_wait here(*this, p);
    std::vector<any_array> outputs;
    if (auto* scope = context_->trace) {
        const int entry = scope->to.begin(entry_of(p));
        std::optional<traced_context> within;
        if (const auto* use = alone.item().op->regions()) within.emplace(*context_, scope->within(entry, *use));
        outputs = alone.run(in, within ? &*within : context_, alone.is_async() ? &here : nullptr);
        scope->to.end(entry, {.bytes = bytes_of(outputs), .iterations = within ? within->scope.iterations : -1});
    } else {
        outputs = alone.run(in, context_, alone.is_async() ? &here : nullptr);
    }
    if (here.used()) return false;
    give(p, std::move(outputs));
    return true;
}

RILL_COLD step_trace::entry step_executor::entry_of(std::size_t p) const {
    const auto& n = *plan_.alone(p)->item().origin;
    auto e = context_->trace->entry_of(n.name, n.op->name());
    e.stage = static_cast<int>(p);
    return e;
}

RILL_COLD void step_executor::begin_wait(std::size_t p) {
    auto e = entry_of(p);
    e.what = step_trace::kind::waited;
    waits_.push_back({p, context_->trace->to.begin(std::move(e))});
}

/// Runs a node's bodies until one waits; its completion calls this again. Returns true at the end.
RILL_COLD bool step_executor::run_bodies(std::size_t p, std::vector<any_array> given) {
    const auto at = detail::find_if(bodies_, [&](const auto& b) { return b->stage == p; });
    auto& running = **at;
    running.now = nullptr;
    const step_context* const context = running.traced ? &*running.traced : context_;
    try {
        try {
            while (plan* next = running.bodies->next(given, running.feeds)) {
                context_->check();
                if (running.traced) running.traced->scope.iteration = running.bodies->iterations();
                running.now = nested_run_of(*next, running.feeds);
                if (!running.now) {
                    given = run_plan(*next, running.feeds, context);
                    continue;
                }
                auto all = running.now->begin(*this, p, *events_, *context);
                if (!all) return false;
                given = std::move(*all);
            }
        } catch (...) {
            running.bodies->rethrow();
        }
    } catch (...) {
        plan_.alone(p)->rethrow();
    }
    if (running.traced)
        context_->trace->to.end(running.traced->scope.inside,
                                {.bytes = bytes_of(given), .iterations = running.bodies->iterations()});
    give(p, std::move(given));
    erase_if(bodies_, [&](const auto& b) { return b->stage == p; });
    return true;
}

RILL_COLD const any_array& step_executor::fetched(std::size_t i) const {
    return values_[plan_.all_stages().fetches[i]];
}

RILL_COLD std::vector<any_array> step_executor::all_fetched() const {
    std::vector<any_array> all;
    for (std::size_t i = 0; i < plan_.all_stages().fetches.size(); ++i) all.push_back(kept_copy(fetched(i)));
    return all;
}

/// Rethrows the current exception, with the locations of the nodes around this run added.
RILL_COLD void step_executor::rethrow_outwards() const {
    if (parent_) parent_->rethrow_nested(parent_number_);
    throw;
}

RILL_COLD void step_executor::rethrow_nested(std::size_t p) const {
    try {
        for (const auto& b : bodies_)
            if (b->stage == p) b->bodies->rethrow();
        throw;
    } catch (...) {
        try {
            plan_.alone(p)->rethrow();
        } catch (...) {
            rethrow_outwards();
        }
    }
}

RILL_COLD void step_executor::nested_done(std::size_t p, std::vector<any_array> results) {
    bool done = false;
    try {
        done = run_bodies(p, std::move(results));
    } catch (...) {
        rethrow_outwards();
    }
    if (done) complete(p);
}

RILL_COLD void step_executor::on_completed(std::size_t p, std::exception_ptr problem, std::vector<any_array> outputs) {
    if (context_->trace) {
        const auto at = detail::find_if(waits_, [&](const wait& w) { return w.stage == p; });
        context_->trace->to.end(at->entry, {.bytes = bytes_of(outputs), .at = events_->came_at()});
        waits_.erase(at);
    }
    try {
        if (problem) {
            try {
                std::rethrow_exception(problem);
            } catch (...) {
                plan_.alone(p)->rethrow();
            }
        }
        give(p, std::move(outputs));
    } catch (...) {
        rethrow_outwards();
    }
    complete(p);
}

RILL_COLD std::string step_executor::place_of_stage(std::size_t p) const {
    return place_of(*plan_.alone(p)->item().origin);
}

RILL_COLD void step_executor::give(std::size_t p, std::vector<any_array> outputs) {
    plan_.alone(p)->check(outputs);
    const auto& numbers = plan_.all_stages().all[p].outputs;
    // a loop without iterations returns its operands: one may be a variable that a later stage writes in place
    for (std::size_t k = 0; k < numbers.size() && k < outputs.size(); ++k)
        values_[numbers[k]] = outputs[k].is_borrowed() ? kept_copy(outputs[k]) : std::move(outputs[k]);
}

/// Completes a stage. May destroy *this: completing the last stage resumes the parent run, which owns this object.
RILL_COLD void step_executor::complete(std::size_t p) {
    for (const std::size_t n : plan_.next()[p])
        if (--missing_[n] == 0) events_->add({this, n});
    if (--left_ == 0 && parent_) parent_->nested_done(parent_number_, all_fetched());
}

}}} // namespace rill::RILL_ABI::detail
