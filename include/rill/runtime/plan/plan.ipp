// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/runtime/plan/plan.hpp>

#include <cstddef>
#include <cstdio>
#include <iterator>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include <rill/core/algorithm.hpp>
#include <rill/core/shared.hpp>
#include <rill/graph/graph.hpp>
#include <rill/passes/insert_copies.hpp>
#include <rill/runtime/dynamic_runtime.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

inline device_use use_of_devices(const gpu_options& options) {
    // a step that swaps waits for copies, and its ranges would be short
    return {.swaps = options.swap_memory, .captures = options.cuda_graphs && !options.swap_memory};
}

RILL_COLD plan::plan(const plan_key& key, const session_options& options, std::shared_ptr<resource_store> resources,
                     std::shared_ptr<placement> where, const edge_devices& edges)
    : resources_(std::move(resources)), memory_(options.memory ? *options.memory : default_allocator()),
      where_(std::move(where)), use_(use_of_devices(options.gpu)) {
    const auto* in = graph_of(key);
    const auto* control = bodies_.control = in && in->may_be_dynamic() ? registered_dynamic_runtime.load() : nullptr;
    if (key.functionalized && key.functionalized->is_dataflow) {
        dataflow_ = control->make_dataflow_plan(key, options, resources_, where_);
        return;
    }
    auto made = compile_graph(key, control, options.raise_primitives, *where_, edges);
    flow_ = std::move(made.flow);
    // before the split: one copy serves all stages, and each value that passes between them lies where its readers need it
    graph_ = checked_pass(insert_copies(std::move(made.items), edges.fetches), true);
    if (control && control->needs_stages(graph_)) {
        split_into_stages(options);
        return;
    }
    graph_ = checked_pass(hoist_copies(std::move(graph_), cost_model(where_->costs().get()),
                                       [&](const memory_space* m) { return where_->free_bytes(m); }),
                          true);
    if (control && control->may_need_stages(graph_)) splits_with_ = std::make_unique<const session_options>(options);
    compile_bodies(options);
}

RILL_COLD plan::plan(subgraph part, const session_options& options, std::shared_ptr<resource_store> resources,
                     std::shared_ptr<placement> where, const dynamic_runtime& control)
    : resources_(std::move(resources)), memory_(options.memory ? *options.memory : default_allocator()),
      where_(std::move(where)), use_(use_of_devices(options.gpu)), graph_(checked_pass(std::move(part), true)) {
    bodies_.control = &control;
    compile_bodies(options);
}

RILL_COLD void plan::compile_bodies(const session_options& options) {
    if (!bodies_.control) return;
    for (const auto& it : graph_.items) bodies_.control->compile_bodies(bodies_, it, options, resources_, where_);
}

RILL_COLD const memory_space* plan::feed_space(std::size_t i) const {
    const auto at = detail::find_if(graph_.items, [&](const auto& it) { return it.feed == static_cast<int>(i); });
    return at == graph_.items.end() ? nullptr : at->memory();
}

RILL_COLD void plan::split_into_stages(const session_options& options) {
    stages_ = control().make_staged_plan(graph_, options, resources_, where_);
    staged_.store(stages_.get(), std::memory_order_release);
}

RILL_COLD void plan::split_late() {
    if (!splits_with_) throw internal("a static segment was split into stages too late");
    split_into_stages(*splits_with_);
}

RILL_COLD void plan::use_stages() {
    const std::lock_guard lock(mutex_);
    if (splits_with_ && !is_staged()) split_late();
}

RILL_COLD void plan::use_stages(const session_options& options) {
    if (is_staged() || is_dataflow()) return;
    bodies_.control = registered_dynamic_runtime.load();
    split_into_stages(options);
}

RILL_INLINE plan::~plan() { delete ready_.load(); }

RILL_INLINE std::unique_ptr<execution_state> plan::acquire(std::span<const any_array> feeds) {
    if (is_staged()) return begin_staged(feeds);
    std::unique_ptr<execution_state> step(ready_.exchange(nullptr, std::memory_order_acquire));
    if (step) {
        if (step->of->serves(feeds)) return fed(std::move(step), feeds);
        step->of->release(std::move(step->memory));
    } else {
        step = std::make_unique<execution_state>();
    }
    return acquire_new(std::move(step), feeds);
}

inline std::unique_ptr<execution_state> plan::fed(std::unique_ptr<execution_state> step,
                                                  std::span<const any_array> feeds) {
    for (std::size_t i = 0; i < feeds.size(); ++i) step->of->feed(*step->memory, i, feeds[i].data());
    return step;
}

RILL_COLD std::unique_ptr<execution_state> plan::acquire_new(std::unique_ptr<execution_state> step,
                                                             std::span<const any_array> feeds) {
    std::vector<tensor_type> types;
    for (const auto& f : feeds) types.push_back(f.type());
    step->of = bind(types);
    if (!step->of) return begin_staged(feeds);
    step->memory = step->of->acquire();
    return fed(std::move(step), feeds);
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
    // The plan may have closed meanwhile. Both sides write before they read, so that one of them sees the other.
    if (closed_) delete ready_.exchange(nullptr);
}

RILL_INLINE void plan::run(execution_state& step, const step_context& context) {
    if (step.of) return step.of->run(*step.memory, context);
    control().start(*step.is_staged, context, nullptr);
    control().drive(*step.is_staged);
}

RILL_COLD const any_array& plan::fetched(const execution_state& step, std::size_t i) const {
    return control().fetched(*step.is_staged, i);
}

RILL_COLD std::vector<any_array> plan::fetched_values(const execution_state& step) const {
    std::vector<any_array> values;
    for (std::size_t i = 0; i < graph_.fetches.size(); ++i)
        values.push_back(kept_copy(step.is_staged ? fetched(step, i) : step.of->fetched(*step.memory, i)));
    return values;
}

RILL_COLD void plan::close() noexcept {
    closed_ = true;
    delete ready_.exchange(nullptr);
    const std::lock_guard lock(mutex_);
    if (stages_ || dataflow_) control().close(dataflow_.get(), stages_.get());
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
    if (closed_) throw cancelled("the session is closed"); // the session closed while this run began
    for (auto at = segments_.begin(); at != segments_.end(); ++at)
        if ((*at)->serves(feeds)) {
            if (at != segments_.begin()) segments_.splice(segments_.begin(), segments_, at);
            return segments_.front();
        }
    if (is_staged()) return nullptr;
    auto made = segment::bind(graph_, feeds, *resources_, memory_, bodies_, use_);
    if (!made) {
        split_late();
        return nullptr;
    }
    segments_.push_front(std::move(made));
    if (segments_.size() > kept) segments_.pop_back();
    return segments_.front();
}

}}} // namespace rill::RILL_ABI::detail
