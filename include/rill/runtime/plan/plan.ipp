// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/runtime/plan/plan.hpp>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <iterator>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include <rill/core/log.hpp>
#include <rill/core/shared.hpp>
#include <rill/passes/eliminate_common_subexpressions.hpp>
#include <rill/passes/fold_operands.hpp>
#include <rill/passes/insert_copies.hpp>
#include <rill/passes/merge_region_variants.hpp>
#include <rill/passes/order.hpp>
#include <rill/passes/place.hpp>
#include <rill/passes/prune.hpp>
#include <rill/runtime/dynamic_runtime.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

/// Checks the result of a pass in debug builds, and returns it.
inline subgraph checked_pass(subgraph g, [[maybe_unused]] bool ordered) {
#ifndef NDEBUG
    check(g, ordered);
#endif
    return g;
}

inline const graph_state* graph_of(const plan_key& key) {
    if (!key.fetches.empty()) return key.fetches[0].from->owner;
    return key.targets.empty() ? nullptr : key.targets[0]->owner;
}

RILL_COLD plan::plan(const plan_key& key, const session_options& options, std::shared_ptr<resource_store> resources,
                     const device_type& default_device)
    : resources_(std::move(resources)), memory_(options.memory ? *options.memory : default_allocator()) {
    const auto* in = graph_of(key);
    const auto* control = bodies_.control = in && in->may_be_dynamic() ? registered_dynamic_runtime.load() : nullptr;
    if (key.functionalized && key.functionalized->is_dataflow) {
        frames_ = control->make_dataflow_plan(key, options, resources_, default_device);
        return;
    }
    // another thread may add the graph's first one just now
    if (const auto* primitive = control ? in->primitive() : nullptr)
        flow_ = control->functionalize(key, primitive->functional_ops(), options.raise_primitives);
    graph_ = checked_pass(prune(key.fetches, key.targets, key.feeds, key.within, flow_.get()), !flow_);
    if (flow_) graph_ = checked_pass(sort_items(std::move(graph_)), true);
    graph_ = checked_pass(merge_region_variants(std::move(graph_)), true);
    graph_ = checked_pass(eliminate_common_subexpressions(std::move(graph_)), true);
    graph_ = checked_pass(fold_producers(std::move(graph_)), true);
    graph_ = checked_pass(serialize_lock_ops(std::move(graph_)), true);
    graph_ = checked_pass(order_variable_accesses(std::move(graph_)), false);
    graph_ = checked_pass(sort_items(std::move(graph_)), true);
    if (control && control->needs_stages(graph_)) {
        split_into_stages(graph_, options, default_device);
    } else {
        if (control && control->may_need_stages(graph_)) unsplit_.reset(new unsplit{graph_, options, default_device});
        place_items(options, default_device);
    }
}

RILL_COLD plan::plan(subgraph part, const session_options& options, std::shared_ptr<resource_store> resources,
                     const device_type& default_device, const dynamic_runtime& control)
    : resources_(std::move(resources)), memory_(options.memory ? *options.memory : default_allocator()),
      graph_(checked_pass(std::move(part), true)) {
    bodies_.control = &control;
    place_items(options, default_device);
}

RILL_COLD void plan::place_items(const session_options& options, const device_type& default_device) {
    std::function<void(const node&, const std::string&)> report;
    if (options.log_device_placement)
        report = [](const node& n, const std::string& device) {
            log_message(log_level::info, n.name + ": (" + std::string(n.op->name()) + "): " + device);
        };
    graph_ = checked_pass(place(std::move(graph_), options.allow_soft_placement, report, default_device), true);
    graph_ = checked_pass(insert_copies(std::move(graph_)), true);
    if (!bodies_.control) return;
    for (const auto& it : graph_.items)
        bodies_.control->compile_bodies(bodies_, it, options, resources_, default_device);
}

RILL_COLD void plan::split_into_stages(const subgraph& g, const session_options& options,
                                       const device_type& default_device) {
    stages_ = control().make_staged_plan(g, options, resources_, default_device);
    staged_.store(stages_.get(), std::memory_order_release);
}

RILL_COLD void plan::split_late() {
    if (!unsplit_) throw internal("a static segment was split into stages too late");
    split_into_stages(unsplit_->graph, unsplit_->options, unsplit_->default_device);
}

RILL_COLD void plan::use_stages() {
    const std::lock_guard lock(mutex_);
    if (unsplit_ && !is_staged()) split_late();
}

RILL_INLINE plan::~plan() { delete ready_.load(); }

RILL_INLINE std::unique_ptr<execution_state> plan::acquire(std::span<const any_array> feeds) {
    if (is_staged()) return begin_staged(feeds);
    std::unique_ptr<execution_state> step(ready_.exchange(nullptr, std::memory_order_acquire));
    if (step) {
        if (step->of->serves(feeds)) return step;
        step->of->release(std::move(step->memory));
    } else {
        step = std::make_unique<execution_state>();
    }
    return acquire_new(std::move(step), feeds);
}

RILL_COLD std::unique_ptr<execution_state> plan::acquire_new(std::unique_ptr<execution_state> step,
                                                             std::span<const any_array> feeds) {
    std::vector<tensor_type> types;
    for (const auto& f : feeds) types.push_back(f.type());
    step->of = bind(types);
    if (!step->of) return begin_staged(feeds);
    step->memory = step->of->acquire();
    return step;
}

RILL_COLD std::unique_ptr<execution_state> plan::begin_staged(std::span<const any_array> feeds) {
    if (closed_) throw cancelled("the session is closed");
    auto step = std::make_unique<execution_state>();
    step->is_staged = control().begin(*is_staged(), feeds);
    return step;
}

RILL_INLINE void plan::release(std::unique_ptr<execution_state> step) noexcept {
    if (!step->of) return; // a run in stages releases its own frames
    step->of->finish(*step->memory);
    execution_state* none = nullptr;
    if (!ready_.compare_exchange_strong(none, step.get())) return step->of->release(std::move(step->memory));
    step.release();
    // closed meanwhile? Both sides write first and read then, so that one of them sees the other
    if (closed_) delete ready_.exchange(nullptr);
}

RILL_INLINE void plan::run(execution_state& step, std::span<const void* const> feeds, const step_context& context) {
    if (step.is_staged) {
        control().start(*step.is_staged, context, nullptr);
        control().drive(*step.is_staged);
        return;
    }
    step.memory->context = &context;
    step.of->run(*step.memory, feeds);
}

RILL_COLD void plan::run(execution_state& step, std::span<const any_array> feeds, const step_context& context) {
    std::vector<const void*> data;
    for (const auto& f : feeds) data.push_back(f.data());
    run(step, std::span<const void* const>(data), context);
}

RILL_COLD const any_array& plan::fetched(const execution_state& step, std::size_t i) const {
    return control().fetched(*step.is_staged, i);
}

RILL_COLD std::vector<any_array> plan::fetched_values(const execution_state& step) const {
    std::vector<any_array> values;
    for (std::size_t i = 0; i < graph_.fetches.size(); ++i)
        if (step.is_staged) {
            values.push_back(owned_copy(fetched(step, i)));
        } else {
            const auto& type = step.of->fetch_type(i);
            values.push_back(owned_copy(type.type, type.shape, step.of->fetch_data(*step.memory, i)));
        }
    return values;
}

RILL_COLD void plan::close() noexcept {
    closed_ = true;
    delete ready_.exchange(nullptr);
    const std::lock_guard lock(mutex_);
    if (stages_ || frames_) control().close(frames_.get(), stages_.get());
    bodies_.each([](plan& p) { p.close(); });
    segments_.clear();
}

RILL_COLD std::string plan::memory_report() {
    std::string what;
    const auto list = [&](const std::string& name) { what += (what.empty() ? "" : ", ") + name; };
    for (const auto& f : graph_.fetches) list(graph_.name_of(f.item));
    for (const int t : graph_.targets) list(graph_.name_of(t));
    const std::lock_guard lock(mutex_);
    std::string lines;
    for (const auto& s : segments_) {
        const auto arena = s->arena_bytes(), bound = s->lower_bound();
        char ratio[32] = "1";
        if (bound > 0)
            std::snprintf(ratio, sizeof ratio, "%.2f", static_cast<double>(arena) / static_cast<double>(bound));
        lines += what + ": " + std::to_string(s->steps()) + " steps, " + std::to_string(arena) + " bytes a step, " +
                 ratio + " of the least possible (" + std::to_string(bound) + "), in " + std::to_string(s->frames()) +
                 " frames\n";
    }
    return lines;
}

RILL_COLD std::shared_ptr<segment> plan::bind(std::span<const tensor_type> feeds) {
    const std::lock_guard lock(mutex_);
    if (closed_) throw cancelled("the session is closed"); // it closed while this run began
    for (auto at = segments_.begin(); at != segments_.end(); ++at)
        if ((*at)->serves(feeds)) {
            if (at != segments_.begin()) segments_.splice(segments_.begin(), segments_, at);
            return segments_.front();
        }
    if (is_staged()) return nullptr;
    auto made = segment::bind(graph_, feeds, *resources_, memory_, bodies_);
    if (!made) {
        split_late();
        return nullptr;
    }
    segments_.push_front(std::move(made));
    if (segments_.size() > kept) segments_.pop_back();
    return segments_.front();
}

}}} // namespace rill::RILL_ABI::detail
